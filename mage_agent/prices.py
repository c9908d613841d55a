"""What tokens cost, from a table that the user writes: prices change, and nobody should trust ours.

```toml
[models."gpt-4o-mini"]
prompt = 0.15        # US dollars for a million tokens
completion = 0.60
```
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mage_agent.model_settings import Price
from mage_agent.toml_files import read_table
from mage_envs.errors import MageError


def read_prices(path: Path) -> dict[str, Price]:
    """Reads a table of prices.

    Args:
        path: A TOML file with a table ``models`` of tables by name of model.

    Returns:
        Prices by name of model.

    Raises:
        MageError: It cannot be read, or holds something else than prices.
    """
    table = read_table(path, of="prices")
    models = table.get("models")
    if table.keys() - {"models"} or not isinstance(models, dict):
        raise MageError(f'{path}: prices stand under [models."name of the model"], and nothing else does')
    return {name: _price(path, name, row) for name, row in models.items()}


def price_of(path: Path, model: str) -> Price | None:
    """Returns the price of a model; None if the table has none, which means that costs are unknown.

    Raises:
        MageError: As :func:`read_prices` does.
    """
    return read_prices(path).get(model)


def _price(path: Path, name: str, row: Any) -> Price:
    where = f'{path}: [models."{name}"]'
    if not isinstance(row, Mapping) or row.keys() != set(Price._fields):
        raise MageError(f"{where} must have prompt and completion, in US dollars for a million tokens, only")
    for field, value in row.items():
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < math.inf:
            raise MageError(f"{where}: {field} is {value!r}, but must be a number of US dollars, at least 0")
    return Price(float(row["prompt"]), float(row["completion"]))
