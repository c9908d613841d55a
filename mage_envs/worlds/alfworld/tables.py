"""What houses are made of: rooms, receptacles, things, and what fits where. Facts of ALFRED (2019), as data."""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

TaskType: TypeAlias = Literal[
    "pick_and_place_simple", "look_at_obj_in_light", "pick_clean_then_place_in_recep",
    "pick_heat_then_place_in_recep", "pick_cool_then_place_in_recep", "pick_two_obj_and_place",
]  # fmt: skip
RoomType: TypeAlias = Literal["kitchen", "living room", "bedroom", "bathroom"]


class Room(NamedTuple):
    """A type of room.

    Attributes:
        receptacles: Types of receptacles, with the fewest and the most that there are.
        things: Types of things that can be carried, with the most that there are.
        fixtures: Types of things that stay where they are, each with the receptacles on which one may stand.
    """

    receptacles: dict[str, tuple[int, int]]
    things: dict[str, int]
    fixtures: dict[str, tuple[str, ...]]


ROOMS: dict[RoomType, Room] = {
    "kitchen": Room(
        {
            "Cabinet": (4, 9), "CoffeeMachine": (1, 1), "CounterTop": (1, 3), "DiningTable": (0, 1), "Drawer": (2, 5),
            "Fridge": (1, 1), "GarbageCan": (1, 1), "Microwave": (1, 1), "Shelf": (0, 3), "SideTable": (0, 1),
            "SinkBasin": (1, 1), "StoveBurner": (2, 4), "Toaster": (1, 1),
        },
        {
            "Apple": 3, "Bowl": 3, "Bread": 2, "ButterKnife": 2, "Cup": 3, "DishSponge": 2, "Egg": 3, "Fork": 3,
            "Glassbottle": 2, "Kettle": 1, "Knife": 2, "Ladle": 1, "Lettuce": 2, "Mug": 3, "Pan": 2,
            "PepperShaker": 3, "Plate": 3, "Pot": 2, "Potato": 3, "SaltShaker": 3, "SoapBottle": 2, "Spatula": 3,
            "Spoon": 3, "Statue": 1, "Tomato": 3, "Vase": 2, "WineBottle": 2,
        },
        {},
    ),
    "living room": Room(
        {
            "ArmChair": (1, 2), "Cabinet": (0, 4), "CoffeeTable": (0, 2), "DiningTable": (0, 1), "Drawer": (2, 8),
            "Dresser": (0, 1), "GarbageCan": (1, 1), "Ottoman": (0, 1), "Safe": (0, 1), "Shelf": (0, 5),
            "SideTable": (1, 3), "Sofa": (1, 1), "TVStand": (0, 1),
        },
        {
            "Book": 2, "Bowl": 1, "Box": 2, "Candle": 1, "CellPhone": 2, "CreditCard": 3, "KeyChain": 3, "Laptop": 2,
            "Newspaper": 2, "Pen": 1, "Pencil": 1, "Pillow": 2, "Plate": 1, "RemoteControl": 3, "Statue": 3,
            "TissueBox": 2, "Vase": 2, "Watch": 2,
        },
        {"DeskLamp": ("SideTable", "Dresser", "DiningTable"), "Television": ("TVStand", "Dresser")},
    ),
    "bedroom": Room(
        {
            "ArmChair": (0, 1), "Bed": (1, 1), "Cabinet": (0, 3), "Desk": (1, 2), "Drawer": (3, 8), "Dresser": (0, 1),
            "GarbageCan": (1, 1), "LaundryHamper": (0, 1), "Safe": (0, 1), "Shelf": (0, 6), "SideTable": (0, 2),
        },
        {
            "AlarmClock": 3, "BaseballBat": 1, "BasketBall": 1, "Book": 3, "Bowl": 2, "CD": 3, "CellPhone": 3,
            "CreditCard": 3, "KeyChain": 3, "Laptop": 2, "Mug": 2, "Pen": 3, "Pencil": 3, "Pillow": 2,
            "TennisRacket": 1, "TissueBox": 1,
        },
        {"DeskLamp": ("Desk", "SideTable", "Dresser")},
    ),
    "bathroom": Room(
        {
            "BathtubBasin": (0, 1), "Cabinet": (2, 6), "Cart": (0, 1), "CounterTop": (1, 1), "Drawer": (0, 4),
            "GarbageCan": (1, 1), "HandTowelHolder": (1, 2), "Shelf": (0, 2), "SinkBasin": (1, 2), "Toilet": (1, 1),
            "ToiletPaperHanger": (1, 1), "TowelHolder": (1, 1),
        },
        {
            "Candle": 3, "Cloth": 3, "DishSponge": 2, "HandTowel": 2, "SoapBar": 3, "SoapBottle": 3,
            "SprayBottle": 3, "TissueBox": 1, "ToiletPaper": 3, "Towel": 1,
        },
        {},
    ),
}  # fmt: skip

_ON = {
    "ArmChair": "Book Box CellPhone Cloth CreditCard KeyChain Laptop Newspaper Pillow RemoteControl",
    "BathtubBasin": "Cloth DishSponge HandTowel SoapBar",
    "Bed": "BaseballBat BasketBall Book CellPhone Laptop Pillow TennisRacket",
    "Cabinet": "Book Bowl Box CD Candle Cloth Cup DishSponge Glassbottle HandTowel Kettle Ladle Mug Newspaper Pan "
    "PepperShaker Plate Pot SaltShaker SoapBar SoapBottle SprayBottle TissueBox ToiletPaper Vase WineBottle",
    "Cart": "Candle Cloth DishSponge HandTowel SoapBar SoapBottle SprayBottle TissueBox ToiletPaper",
    "CoffeeMachine": "Mug",
    "CoffeeTable": "Book Bowl Box Candle CellPhone CreditCard KeyChain Laptop Newspaper Pen Pencil Plate "
    "RemoteControl Statue TissueBox Vase Watch",
    "CounterTop": "Apple Bowl Bread ButterKnife Candle Cloth Cup DishSponge Egg Fork Glassbottle HandTowel Kettle "
    "Knife Ladle Lettuce Mug Pan PepperShaker Plate Pot Potato SaltShaker SoapBar SoapBottle Spatula Spoon "
    "SprayBottle Statue TissueBox ToiletPaper Tomato Vase WineBottle",
    "Desk": "AlarmClock BasketBall Book Bowl Box CD CellPhone CreditCard KeyChain Laptop Mug Pen Pencil "
    "RemoteControl Statue TennisRacket TissueBox Vase Watch",
    "DiningTable": "AlarmClock Apple BaseballBat Book Bowl Box Bread ButterKnife CD Candle CellPhone CreditCard Cup "
    "DishSponge Egg Fork Glassbottle Kettle KeyChain Knife Ladle Laptop Lettuce Mug Newspaper Pan Pen Pencil "
    "PepperShaker Plate Pot Potato RemoteControl SaltShaker SoapBottle Spatula Spoon Statue TissueBox Tomato Vase "
    "Watch WineBottle",
    "Drawer": "Book ButterKnife CD Candle CellPhone Cloth CreditCard DishSponge Fork HandTowel KeyChain Knife Ladle "
    "Newspaper Pen Pencil PepperShaker RemoteControl SaltShaker SoapBar SoapBottle Spatula Spoon SprayBottle "
    "TissueBox ToiletPaper Watch",
    "Dresser": "AlarmClock BasketBall Book Bowl Box CD Candle CellPhone CreditCard KeyChain Laptop Mug Newspaper Pen "
    "Pencil RemoteControl Statue TennisRacket TissueBox Vase Watch",
    "Fridge": "Apple Bowl Bread Cup Egg Glassbottle Lettuce Mug Pan Plate Pot Potato Tomato WineBottle",
    "GarbageCan": "Apple Bread CD Cloth DishSponge Egg HandTowel Lettuce Newspaper Pen Pencil Potato SoapBar "
    "SoapBottle SprayBottle TissueBox ToiletPaper Tomato WineBottle",
    "HandTowelHolder": "HandTowel",
    "LaundryHamper": "Cloth",
    "Microwave": "Apple Bowl Bread Cup Egg Glassbottle Mug Plate Potato Tomato",
    "Ottoman": "Book Box CellPhone CreditCard KeyChain Laptop Newspaper Pillow RemoteControl",
    "Safe": "CD CellPhone CreditCard KeyChain Statue Vase Watch",
    "Shelf": "AlarmClock Book Bowl Box CD Candle CellPhone Cloth CreditCard Cup DishSponge Glassbottle HandTowel "
    "Kettle KeyChain Mug Newspaper Pen Pencil PepperShaker Plate Pot RemoteControl SaltShaker SoapBar SoapBottle "
    "SprayBottle Statue TissueBox ToiletPaper Vase Watch WineBottle",
    "SideTable": "AlarmClock Apple BaseballBat BasketBall Book Bowl Box Bread ButterKnife CD Candle CellPhone Cloth "
    "CreditCard Cup DishSponge Egg Fork HandTowel Kettle KeyChain Knife Laptop Lettuce Mug Newspaper Pan Pen Pencil "
    "PepperShaker Plate Pot Potato RemoteControl SaltShaker SoapBar SoapBottle Spatula Spoon SprayBottle Statue "
    "TennisRacket TissueBox ToiletPaper Tomato Vase Watch WineBottle",
    "SinkBasin": "Apple Bowl ButterKnife Cloth Cup DishSponge Egg Fork Glassbottle HandTowel Kettle Knife Ladle "
    "Lettuce Mug Pan Plate Pot Potato SoapBar Spatula Spoon Tomato",
    "Sofa": "Book Box CellPhone CreditCard KeyChain Laptop Newspaper Pillow RemoteControl",
    "StoveBurner": "Kettle Pan Pot",
    "TVStand": "TissueBox",
    "Toilet": "Candle Cloth DishSponge HandTowel SoapBar SoapBottle SprayBottle TissueBox ToiletPaper",
    "ToiletPaperHanger": "ToiletPaper",
    "TowelHolder": "Towel",
}

CONTAINS: dict[str, tuple[str, ...]] = {receptacle: tuple(things.split()) for receptacle, things in _ON.items()}
"""What fits into or onto each type of receptacle; into a toaster, nothing does."""

OPENABLE = frozenset({"Cabinet", "Drawer", "Fridge", "Microwave", "Safe"})

_ABLE = {
    "cleanable": "Apple Bowl ButterKnife Cloth Cup DishSponge Egg Fork Kettle Knife Ladle Lettuce Mug Pan Plate Pot "
    "Potato SoapBar Spatula Spoon Tomato",
    "heatable": "Apple Bread Cup Egg Mug Plate Potato Tomato",
    "coolable": "Apple Bowl Bread Cup Egg Lettuce Mug Pan Plate Pot Potato Tomato WineBottle",
    "sliceable": "Apple Bread Egg Lettuce Potato Tomato",
    "toggleable": "DeskLamp FloorLamp",
    "isReceptacleObject": "Bowl Box Cup Mug Pan Plate Pot",
}

ABLE: dict[str, frozenset[str]] = {able: frozenset(things.split()) for able, things in _ABLE.items()}
"""What can be done with things, by type."""


class TaskKind(NamedTuple):
    """What a type of task needs.

    Attributes:
        able: What must be possible with the thing; empty if nothing special.
        flag: The predicate that must come true of it; empty if none.
        sayings: The ways in which the player is told, with the thing and the receptacle (or the lamp).
    """

    able: str
    flag: str
    sayings: tuple[str, str]


TASKS: dict[TaskType, TaskKind] = {
    "pick_and_place_simple": TaskKind("", "", ("put a {thing} in {where}.", "put some {thing} on {where}.")),
    "look_at_obj_in_light": TaskKind(
        "", "", ("look at {thing} under the {where}.", "examine the {thing} with the {where}.")
    ),
    "pick_clean_then_place_in_recep": TaskKind(
        "cleanable", "isClean", ("put a clean {thing} in {where}.", "clean some {thing} and put it in {where}.")
    ),
    "pick_heat_then_place_in_recep": TaskKind(
        "heatable", "isHot", ("put a hot {thing} in {where}.", "heat some {thing} and put it in {where}.")
    ),
    "pick_cool_then_place_in_recep": TaskKind(
        "coolable", "isCool", ("put a cool {thing} in {where}.", "cool some {thing} and put it in {where}.")
    ),
    "pick_two_obj_and_place": TaskKind(
        "", "", ("put two {thing} in {where}.", "find two {thing} and put them in {where}.")
    ),
}

APPLIANCE = {"cleanable": "SinkBasin", "heatable": "Microwave", "coolable": "Fridge"}
"""The receptacle that does it; only rooms that have one have such tasks."""
