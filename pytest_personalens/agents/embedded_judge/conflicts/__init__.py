"""Values in deeds that conflict with what the user asked for."""
