"""Records on disk, and the state with which a run resumes."""
