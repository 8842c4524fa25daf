"""The commands of `ambs`, one file each: their options are their fields, their help is their documentation."""
