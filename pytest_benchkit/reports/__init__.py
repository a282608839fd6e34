"""What a run looks like on paper: result files, tables, excerpts. Nothing here knows pytest."""
