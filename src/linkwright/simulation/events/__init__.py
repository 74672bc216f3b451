"""Events of a motion: stops, impacts, contacts, dry friction, breaking members, and the user's."""
