"""What the user hears in a reply: statements, lists and questions."""
