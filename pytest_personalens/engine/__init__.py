"""One evaluation, done and recorded; many of them at once."""
