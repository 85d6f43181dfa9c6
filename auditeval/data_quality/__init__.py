"""How sound and faithful edited data is as a whole: the catalogue of metrics, and their measuring
with frozen encoders over manifests [AuditEval, Table 3]."""
