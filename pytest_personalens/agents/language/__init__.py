"""How texts of users and assistants are read: sentences, statements, values."""
