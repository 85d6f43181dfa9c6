"""What commands print and write: tables, Markdown, JSON and plots, one module a kind of result."""
