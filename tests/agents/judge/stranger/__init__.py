"""Three assistants by an author who has read neither the judge nor its data; the words are CC-BY-4.0."""
