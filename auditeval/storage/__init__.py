"""Where files lie: in folders of this machine, or in an object store by URL (s3://, gs://).

A URL is a `UrlPath`, so what is written for paths holds for it. Libraries that open files
themselves are given `local(path)`, which for a path of this machine is that path. `objects` talks
to the stores, `copies` keeps what was fetched, `bound` keeps folders to a size.
"""

from auditeval.storage.bound import Bound, bytes_of
from auditeval.storage.copies import cache_dir
from auditeval.storage.objects import StorageError
from auditeval.storage.urls import (
    UrlPath,
    ahead,
    appended,
    draft,
    draft_folder,
    joined,
    local,
    local_folder,
    names,
    path,
    relative,
    remove,
    seen,
    version,
    workplace,
)
