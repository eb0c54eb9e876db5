"""What every report says, whatever its form."""
