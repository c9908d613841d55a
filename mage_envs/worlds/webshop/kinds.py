"""The 46 kinds of products of the made catalogue: what they are called, what they can have, what they cost.

All text here is our own. The five categories, the names of options and the number of kinds of a category follow the
original's products.
"""

from __future__ import annotations

from typing import NamedTuple

CATEGORIES = ("fashion", "electronics", "beauty", "garden", "grocery")

_POOLS = {
    "clothes": "machine washable, hand wash, long sleeve, short sleeve, elastic waist, high waist, slim fit, loose "
    "fit, regular fit, quick drying, moisture wicking, cotton blend, wool blend, button closure, zipper "
    "closure, drawstring waist, everyday wear, tummy control, classic fit, polyester lining, stretch "
    "fabric, crew neck, side pocket, wash cold, tumble dry, office wear, winter warm, water repellent",
    "shoes": "rubber sole, leather sole, non slip, arch support, memory foam, ankle strap, closed toe, open toe, "
    "lace up, slip resistant, high heel, low heel, day comfort, steel toe, suede upper, mesh lining, "
    "wide width, cushioned insole, water resistant, pull tab, daily walking, hook fastener",
    "devices": "fast charging, wireless charging, noise cancelling, high resolution, motion detection, easy "
    "install, plug play, hands free, long battery, water proof, dust proof, aluminum housing, gold "
    "plated, remote control, night vision, low latency, dual band, tempered glass, carbon fiber, shock "
    "absorbing, touch control, compact size, quad core, surround sound, power saving, voice control",
    "care": "sulfate free, paraben free, cruelty free, fragrance free, alcohol free, tea tree, aloe vera, "
    "vitamin c, dry skin, sensitive skin, oily skin, damaged hair, curly hair, fine lines, dark "
    "circles, long lasting, easy apply, travel size, leak proof, natural bristle, gentle formula, "
    "coconut oil, deep cleansing, salon quality, non greasy, anti aging",
    "home": "solid wood, engineered wood, coated steel, stainless frame, easy assemble, easy clean, machine "
    "wash, space saving, living room, dining room, storage space, faux leather, double sided, queen "
    "size, heavy duty, eco friendly, white finish, metal legs, non toxic, scratch resistant, printing "
    "technology, ready hang, high density, spot clean, wall mounted, soft touch",
    "food": "gluten free, dairy free, nut free, low carb, low sodium, sugar free, high protein, plant based, "
    "certified organic, kosher certified, artificial colors, natural flavors, non gmo, keto friendly, "
    "trans fat, high fiber, freshly roasted, individually wrapped, ready eat, resealable bag, gift "
    "basket, whole grain, old fashioned, soy free",
}  # fmt: skip
POOLS = {name: tuple(text.split(", ")) for name, text in _POOLS.items()}
"""What a product of a family can have: two words each."""

_VALUES = {
    "color": "black, white, navy, grey, red, dark green, royal blue, pink, beige, burgundy, olive, teal, "
    "brown, khaki, purple, yellow, light blue, army green, rose gold, charcoal, ivory, orange, "
    "silver, wine red, coral",
    "letter size": "x-small, small, medium, large, x-large, xx-large, 3x-large",
    "shoe size": "5, 5.5, 6, 6.5, 7, 7.5, 8, 8.5, 9, 9.5, 10, 10.5, 11, 12",
    "fit type": "men, women, youth",
    "cable size": "3 ft, 6 ft, 10 ft, 15 ft, 25 ft",
    "storage size": "16 gb, 32 gb, 64 gb, 128 gb, 256 gb",
    "device style": "single, 2 pack, with case, with stand, with remote",
    "volume size": "1 fl oz, 2 fl oz, 4 fl oz, 8 fl oz, 12 fl oz, 16 fl oz",
    "hair size": "12 inch, 14 inch, 16 inch, 18 inch, 20 inch, 22 inch",
    "scent": "unscented, lavender, citrus, vanilla, rose petal, eucalyptus, sandalwood, ocean breeze",
    "rug size": "2 ft x 3 ft, 3 ft x 5 ft, 4 ft x 6 ft, 5 ft x 8 ft, 8 ft x 10 ft",
    "pillow size": "12x20 inch, 16x16 inch, 18x18 inch, 20x20 inch, 24x24 inch",
    "bed size": "twin, full, queen, king, california king",
    "item shape": "round, square, rectangular, oval, runner",
    "home style": "modern, rustic, farmhouse, classic, industrial",
    "flavor name": "original, dark chocolate, vanilla, strawberry, sea salt, honey, maple, cinnamon, mixed berry, "
    "lemon, peanut butter, green apple",
    "pack size": "4 ounce (pack of 1), 4 ounce (pack of 3), 8 ounce (pack of 1), 8 ounce (pack of 6), 12 ounce "
    "(pack of 2), 16 ounce (pack of 1), 16 ounce (pack of 12)",
}  # fmt: skip
VALUES = {name: tuple(text.split(", ")) for name, text in _VALUES.items()}
"""Values of options; the last word of a name, or the whole of it, is what pages call the option."""

WHOLE_NAMES = frozenset(("fit type", "item shape", "flavor name"))

_FASHION = "Clothing, Shoes & Jewelry"
_TABLE = f"""
fashion|women's dresses|{_FASHION} › Women › Clothing › Dresses|Dress; Sundress; Maxi Dress|clothes|color, letter size|12-80
fashion|women's sweaters|{_FASHION} › Women › Clothing › Sweaters|Sweater; Cardigan; Pullover|clothes|color, letter size|15-70
fashion|women's shorts|{_FASHION} › Women › Clothing › Shorts|Shorts; Biker Shorts|clothes|color, letter size|9-45
fashion|women's tops|{_FASHION} › Women › Clothing › Tops|Blouse; Tunic; Tank Top|clothes|color, letter size|9-50
fashion|women's pumps|{_FASHION} › Women › Shoes › Pumps|Pumps; Stilettos; Heels|shoes|color, shoe size|20-120
fashion|women's sandals|{_FASHION} › Women › Shoes › Sandals|Sandals; Slides|shoes|color, shoe size|14-90
fashion|men's shirts|{_FASHION} › Men › Clothing › Shirts|Shirt; Henley; Polo|clothes|fit type, color, letter size|12-60
fashion|men's hoodies|{_FASHION} › Men › Clothing › Hoodies|Hoodie; Sweatshirt|clothes|color, letter size|18-75
fashion|men's shorts|{_FASHION} › Men › Clothing › Shorts|Cargo Shorts; Shorts|clothes|color, letter size|12-50
fashion|men's loafers|{_FASHION} › Men › Shoes › Loafers|Loafers; Slip-Ons|shoes|color, shoe size|25-140
fashion|men's boots|{_FASHION} › Men › Shoes › Boots|Boots; Work Boots|shoes|color, shoe size|35-200
fashion|kids' costumes|{_FASHION} › Kids › Costumes|Costume; Costume Set|clothes|letter size|12-55
electronics|headphones|Electronics › Headphones|Headphones; Earbuds; Headset|devices|color|12-220
electronics|bluetooth speakers|Electronics › Portable Audio › Speakers|Speaker; Soundbar|devices|color, device style|15-250
electronics|phone cases|Cell Phones › Accessories › Cases|Phone Case; Cover|devices|color|7-40
electronics|hdmi cables|Electronics › Cables › HDMI Cables|Cable; Video Cable|devices|cable size|6-60
electronics|security cameras|Electronics › Video Surveillance › Cameras|Camera; Doorbell Camera|devices|device style|25-400
electronics|tablets|Electronics › Computers › Tablets|Tablet; Tablet Computer|devices|color, storage size|60-700
electronics|chargers|Cell Phones › Accessories › Chargers|Charger; Power Adapter; Charging Dock|devices|color, device style|8-60
electronics|tripods|Electronics › Camera & Photo › Tripods|Tripod; Monopod|devices||15-180
electronics|tv mounts|Electronics › Television › Mounts|Mount; Bracket|devices||18-160
electronics|smart watches|Electronics › Wearable Technology|Watch; Fitness Tracker|devices|color|25-350
beauty|shampoo|Beauty & Personal Care › Hair Care › Shampoo|Shampoo; Hair Wash|care|scent, volume size|7-45
beauty|hair extensions|Beauty & Personal Care › Hair Care › Extensions|Hair Extensions; Wig|care|color, hair size|15-180
beauty|makeup brushes|Beauty & Personal Care › Makeup › Brushes|Makeup Brush; Brush Set|care|color|6-60
beauty|face serums|Beauty & Personal Care › Skin Care › Serums|Serum; Face Oil|care|volume size|9-110
beauty|body lotions|Beauty & Personal Care › Skin Care › Lotions|Lotion; Body Butter|care|scent, volume size|6-40
beauty|toothbrushes|Beauty & Personal Care › Oral Care|Toothbrush; Toothbrush Head|care|color|5-90
beauty|eyeshadow|Beauty & Personal Care › Makeup › Eyes|Eyeshadow; Palette|care||6-50
beauty|refillable containers|Beauty & Personal Care › Tools › Bottles|Bottle; Pump Dispenser; Jar|care||5-35
garden|area rugs|Home & Kitchen › Home Decor › Rugs|Rug; Carpet|home|item shape, rug size|25-400
garden|decorative pillows|Home & Kitchen › Bedding › Pillows|Pillow Cover; Cushion|home|color, pillow size|8-60
garden|curtains|Home & Kitchen › Home Decor › Curtains|Curtains; Drapes|home|color|15-120
garden|accent chairs|Home & Kitchen › Furniture › Chairs|Chair; Armchair|home|color|80-700
garden|coffee tables|Home & Kitchen › Furniture › Tables|Coffee Table; Side Table|home|home style|60-800
garden|beds|Home & Kitchen › Furniture › Beds|Bed Frame; Platform Bed|home|bed size|120-950
garden|wall art|Home & Kitchen › Home Decor › Wall Art|Canvas Print; Poster|home||12-150
garden|floor lamps|Home & Kitchen › Lighting › Lamps|Lamp; Floor Light|home||30-260
garden|bathroom mirrors|Home & Kitchen › Bath › Mirrors|Mirror; Vanity Mirror|home||35-380
garden|storage cabinets|Home & Kitchen › Storage › Cabinets|Cabinet; Sideboard|home|color|70-600
grocery|protein bars|Grocery › Snacks › Bars|Protein Bar; Snack Bar|food|flavor name, pack size|9-60
grocery|nuts & seeds|Grocery › Snacks › Nuts|Almonds; Cashews; Trail Mix|food|flavor name, pack size|7-70
grocery|teas|Grocery › Beverages › Tea|Tea; Tea Bags|food|flavor name|6-45
grocery|coffee|Grocery › Beverages › Coffee|Coffee; Coffee Beans|food|pack size|8-65
grocery|crackers|Grocery › Snacks › Crackers|Crackers; Crisps|food|flavor name|5-35
grocery|dried fruits|Grocery › Produce › Dried Fruits|Dried Mango; Raisins|food||6-55
"""  # noqa: E501


class Kind(NamedTuple):
    """One kind of product.

    Attributes:
        category: One of :data:`CATEGORIES`.
        query: The search that finds it.
        path: Categories from wide to narrow.
        nouns: What it may be called.
        pool: What it can have.
        options: From the option's name to its possible values.
        prices: Lowest and highest, in dollars.
    """

    category: str
    query: str
    path: str
    nouns: tuple[str, ...]
    pool: tuple[str, ...]
    options: dict[str, tuple[str, ...]]
    prices: tuple[float, float]


def _read(line: str) -> Kind:
    category, query, path, nouns, family, options, prices = line.split("|")
    low, high = prices.split("-")
    schema = {
        name if name in WHOLE_NAMES else name.rsplit(" ", maxsplit=1)[-1]: VALUES[name]
        for name in (options.split(", ") if options else ())
    }
    return Kind(category, query, path, tuple(nouns.split("; ")), POOLS[family], schema, (float(low), float(high)))


KINDS = tuple(_read(line) for line in _TABLE.strip().splitlines())
