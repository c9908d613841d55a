"""Words that the reward goes by: colours, and words of titles that name no thing."""

from __future__ import annotations

_COLORS = """
    alabaster apricot aqua ash asphalt azure banana beige black blue blush bordeaux bronze brown burgundy camel
    camo caramel champagne charcoal cheetah chestnut chocolate christmas coffee cognac copper coral cranberry
    cream crystal dark denim eggplant elephant espresso fuchsia gold granite grape graphite grass gray green grey
    heather indigo ivory ivy khaki lavender lemon leopard light lilac lime magenta maroon mauve merlot midnight
    mint mocha multicolor mushroom mustard natural navy nude olive orange peach pewter pink plum purple rainbow
    red rose royal rust sand sapphire seashell silver skull slate steel stone stonewash sunflower tan taupe teal
    tiger turquoise violet walnut wheat white wine yellow
"""
COLORS = tuple(_COLORS.split())
"""Colours as WebShop has them, in its order (Princeton Natural Language Processing, MIT licence)."""

_NOT_NOUNS = """
    for with and 's of in to the up full one on by tattoo or led large all made your can each from out more is
    make comfortable includes based italian designed original resealable fully over per only pressed included my
    two damaged virtual oriental without etc imported perspirant floating you shaped nordic as reduce under shein
    very listed three cooling shielded removes through sit discontinued african tees any vegetarian piercing true
    are some get well hawaiian scratch six japanese intimate powered own repairing inspired used me stable smoked
    this pouches hello effective not islamic it pointed improves against jylrx personal apply young incl'd still
    hide effectively infused rootgrain starboosa deodorants foxy freestanding taali try boost finchberry crafted
    broadband approved wanted tackled reciprocating stripping ecoand ever rocking distressed laja upgraded
    levitating prepare so puffed including pancake eatop fr sykting wrapped controllers stove coralpearl
    inflatable nearly diandian ruixflr bolsius burning zzf scrunchies below zinus trishield buried thinking
    sending naked hang showcases push sharej enjoy replaced comes mounting garnish finds serrated lowprofile after
    delicate tronic close ruigpro secret bombshell promote ultraideas yyux gxp ngf dentek supersmile lunarable
    humorous phrases narrow be granulated amplified stands revitalising goodland indie jamaican byootique
    removable drafting raising need yesallwas mean longer lengthen stimulate firetruck bapyz retractable behind
    weguard just showed than tested outdoors frizz whdz displayport axxess treble perfecting contains aging yalfjv
    definitely recommended amosfun weeding cofeemo better oatly changing shatterproof tough serves smaate covered
    frosted palestinian simayixx persian previous newest micvtve unfinished oh stay typical meyarn dimming hold
    tapered like french btaidi simply volumizing private sole collants luscious wystao modest rising pitted flavia
    crease iiniim once upon born was lucky taykoo many five jinchan
"""
NOT_NOUNS = frozenset(_NOT_NOUNS.split())
"""Our own list: words that a tagger finds to be no nouns in titles of products."""
