"""SwanBench-Speech: long speech and dialogue by seven metrics of sound, content and expression."""
