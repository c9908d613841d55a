"""How people ask for a made product: shortly, without labels, and often in other words than the shop's.

Of the 13 goals that people wrote for the real 1,000 products, a third of the attributes and of the options are not
worded as the product words them. Here it is half of the attributes: an agent must understand them, since the same
letters find little. All words are our own.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from random import Random

OTHER_WORDS, OTHER_VALUES = 0.5, 0.4
"""How often an attribute, and an option that can be worded in another way, is."""

_OPENINGS = ("i need", "i am looking for", "i want", "looking for", "please get me", "show me")

_TABLE = """
machine washable=can go in the laundry; hand wash=cleaned in the sink; long sleeve=covering the arms;
short sleeve=arms half bare; elastic waist=with a stretchy band on top; high waist=sitting above the hips;
slim fit=cut close to the body; loose fit=roomy; regular fit=neither tight nor baggy; quick drying=soon dry again;
moisture wicking=keeping sweat away; cotton blend=partly of plant fiber; wool blend=partly from sheep;
button closure=buttoned up; zipper closure=zipped up; drawstring waist=tied with a cord; everyday wear=for any day;
tummy control=flattening the belly; classic fit=of a traditional cut; polyester lining=synthetic on the inside;
stretch fabric=giving way when i move; crew neck=with a collar all around; side pocket=to carry my phone in;
wash cold=washed without heat; tumble dry=safe in the dryer; office wear=right for work; winter warm=for freezing days;
water repellent=rain runs off it;
rubber sole=grippy underneath; leather sole=hide underfoot; non slip=not sliding; arch support=good for flat feet;
memory foam=molding to my feet; ankle strap=held above the foot; closed toe=covered in front; open toe=bare in front;
lace up=tied with strings; slip resistant=safe on wet floors; high heel=making me taller; low heel=nearly flat;
day comfort=fine to stand in for hours; steel toe=metal over the front; suede upper=napped on the outside;
mesh lining=airy netting inside; wide width=for broad feet; cushioned insole=padded inside;
water resistant=standing some rain; pull tab=with a loop behind; daily walking=to go about in all week;
hook fastener=with velcro;
fast charging=charged in no time; wireless charging=powered up without a cord; noise cancelling=shutting out the street;
high resolution=very sharp; motion detection=noticing movement; easy install=set up in minutes;
plug play=working right out of the box; hands free=not to be held; long battery=lasting for days;
water proof=can get wet; dust proof=sealed from dirt; aluminum housing=with a light metal body;
gold plated=with contacts that do not tarnish; remote control=run from the sofa; night vision=seeing in the dark;
low latency=without lag; dual band=on both frequencies; tempered glass=hardened in front;
carbon fiber=of woven composite; shock absorbing=surviving drops; touch control=run with a finger;
compact size=taking little room; quad core=with four processors; surround sound=heard from all sides;
power saving=using little energy; voice control=listening when i speak;
sulfate free=without harsh suds; paraben free=without those preservatives; cruelty free=not tested on animals;
fragrance free=without perfume; alcohol free=without spirits; tea tree=with melaleuca;
aloe vera=with that soothing desert plant; vitamin c=with ascorbic acid; dry skin=against flakiness;
sensitive skin=for who gets rashes; oily skin=against shine; damaged hair=for split ends; curly hair=for ringlets;
fine lines=against first wrinkles; dark circles=for tired eyes; long lasting=staying all day;
easy apply=going on without effort; travel size=fitting a carry on; leak proof=never spilling;
natural bristle=without plastic hairs; gentle formula=mild; coconut oil=from palms;
deep cleansing=getting at every pore; salon quality=like the hairdresser's; non greasy=leaving no film;
anti aging=keeping me young;
solid wood=of real timber; engineered wood=of plywood; coated steel=of painted metal; stainless frame=that cannot rust;
easy assemble=put together in minutes; easy clean=wiped off at once; machine wash=can go in the laundry;
space saving=for a tiny flat; living room=to have by the sofa; dining room=for where we eat;
storage space=holding a lot of things; faux leather=of imitation hide; double sided=usable from both faces;
queen size=sixty inches wide; heavy duty=very sturdy; eco friendly=kind to the planet; white finish=painted like snow;
metal legs=standing on iron; non toxic=harmless; scratch resistant=that pets cannot mark;
printing technology=not painted by hand; ready hang=hooks included; high density=firm;
spot clean=stains come out with a cloth; wall mounted=off the floor; soft touch=nice to stroke;
gluten free=safe for coeliacs; dairy free=without milk; nut free=fine with my allergy to almonds;
low carb=with few starches; low sodium=hardly salted; sugar free=unsweetened; high protein=good for muscles;
plant based=vegan; certified organic=farmed without pesticides; kosher certified=approved by a rabbi;
artificial colors=dyed; natural flavors=with nothing synthetic in the taste; non gmo=not genetically modified;
keto friendly=suiting my ketogenic diet; trans fat=with hydrogenated oil; high fiber=good for digestion;
freshly roasted=just out of the roaster; individually wrapped=each in its own packet; ready eat=without cooking;
resealable bag=in a zip pouch; gift basket=in a hamper; whole grain=unrefined; old fashioned=as grandma had them;
soy free=without tofu beans
"""
PARAPHRASES = dict(entry.strip().split("=") for entry in _TABLE.split(";"))
"""Other words for each attribute; none has the value of an option in it."""

_VALUES = (
    (r"x-small", "extra small"),
    (r"x-large", "extra large"),
    (r"xx-large", "2xl"),
    (r"3x-large", "3xl"),
    (r"(\d+) ft", r"\1 foot"),
    (r"(\d+) gb", r"\1 gigabytes"),
    (r"(\d+) fl oz", r"\1 fluid ounces"),
    (r"(\d+) inch", r"\1 inches"),
    (r"(\d+) ft x (\d+) ft", r"\1 by \2 feet"),
    (r"(\d+)x(\d+) inch", r"\1 by \2 inches"),
    (r"(\d+) ounce \(pack of 1\)", r"\1 oz"),
    (r"(\d+) ounce \(pack of (\d+)\)", r"\2 packs of \1 oz"),
    (r"(\d+) pack", r"\1 of them"),
    (r"with (\w+)", r"including a \1"),
)


def short_request(query: str, wanted: Sequence[str], random: Random) -> str:
    """Words what is wanted.

    Args:
        query: What kind of product.
        wanted: The attributes.
        random: Draws the opening, and which attributes are worded otherwise.
    """
    said = [PARAPHRASES[each] if random.random() < OTHER_WORDS else each for each in wanted]
    return f"{random.choice(_OPENINGS)} {', '.join((query.replace('&', 'and'), *said))}"


def short_options(options: Sequence[tuple[str, str]], random: Random) -> str:
    """Words options without their names."""
    said = [respell(value) if random.random() < OTHER_VALUES else value for _, value in options]
    return f", in {', '.join(said)}" if said else ""


def respell(value: str) -> str:
    """Returns the value of an option as somebody might write it who does not see the page.

    >>> respell("8 ounce (pack of 6)"), respell("2 ft x 3 ft"), respell("navy")
    ('6 packs of 8 oz', '2 by 3 feet', 'navy')
    """
    for pattern, other in _VALUES:
        found = re.fullmatch(pattern, value)
        if found is not None:
            return found.expand(other)
    return value
