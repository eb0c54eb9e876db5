"""Names and short texts: parsed, made safe, and freed of secrets."""
