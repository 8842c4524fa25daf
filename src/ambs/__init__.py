from ambs.logic import parse as parse
