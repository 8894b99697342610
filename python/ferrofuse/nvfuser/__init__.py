"""What the package has because nvFuser has it: fusions and their caches, options, profiles, and names that are rejected."""
