// The short words that the starter model can spell, reverse and sort, and the people and cities it knows.
export const WORDS: readonly string[] =
  `ant apple arm bag ball bat bear bed bee bell bird boat book bowl box boy bread bus cake car cat chair city clock
  cloud coat cold corn cow crab cup day deer desk dog door dress drum duck ear egg eye face farm fire fish flag foot
  fork fox frog game gate girl goat gold green hand hat hen hill home horse hot house ice ink jam jar key king kite
  lake lamp leaf lemon lion map mask milk moon mouse nest night nose nut owl pan park pear pen pig plum pond queen
  rain red ring road rock room rose salt sand sea sheep ship shoe shop snow sock song soup spoon star stone sun table
  tea tent tiger toy train tree wall water wind wolf wood worm yard zoo`.split(/\s+/);

export const NAMES: readonly string[] =
  `Ada Ben Carl Dora Emma Finn Grace Hugo Ida Jack Kim Leo Mia Nora Otto Paul Rosa Sam Tom Uma Vera Will Zoe Anna
  Bob Eva`.split(/\s+/);

export const CITIES: readonly string[] =
  `Paris London Berlin Rome Madrid Tokyo Oslo Vienna Cairo Boston Lima Prague Dublin Delhi Athens Lisbon`.split(/\s+/);

export const COLOURS = ['red', 'green', 'blue', 'yellow', 'black', 'white', 'brown', 'grey', 'orange', 'pink'] as const;
