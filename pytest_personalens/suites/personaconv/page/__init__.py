"""What reports say of predictions beside their figures."""
