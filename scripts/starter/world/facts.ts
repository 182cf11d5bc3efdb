// The small world: what the starter model knows about animals, food, things and places.

export interface Fact {
  readonly thing: string;
  readonly kind: string;
  readonly colour: string;
  /** "A frog lives in ponds." or "A lamp is found in houses." */
  readonly place: string;
  /** What it eats, or what it is for: "flies", "giving light". */
  readonly does: string;
}

function fact(kind: string) {
  return (line: string): Fact => {
    const [thing, colour, place, does] = line.split('|').map((part) => part.trim());
    return { thing: thing!, kind, colour: colour!, place: place!, does: does! };
  };
}

export const ANIMALS: readonly Fact[] = `frog | green | ponds | flies
  cow | brown | farms | grass
  sheep | white | farms | grass
  lion | yellow | hot lands | meat
  wolf | grey | woods | meat
  fox | red | woods | mice
  bear | brown | woods | fish and honey
  bee | yellow and black | nests | honey
  owl | brown | trees | mice
  crab | red | the sea | small fish
  pig | pink | farms | corn
  duck | yellow | ponds | bread
  horse | brown | farms | grass
  mouse | grey | houses | cheese
  cat | black | houses | fish
  dog | brown | houses | meat
  ant | black | nests | leaves
  goat | white | hills | grass
  hen | white | farms | corn
  tiger | orange | woods | meat`
  .split('\n')
  .map(fact('animal'));

const THINGS: readonly Fact[] = `lamp | yellow | houses | giving light
  boat | white | the sea | sailing
  bus | red | cities | driving
  car | blue | cities | driving
  clock | black | houses | telling the time
  pen | blue | schools | writing
  book | brown | schools | reading
  cup | white | houses | drinking tea
  spoon | grey | houses | eating soup
  bed | white | houses | sleeping
  kite | red | parks | flying
  drum | brown | schools | making music
  key | grey | houses | opening doors
  hat | black | shops | keeping warm
  tent | green | woods | sleeping`
  .split('\n')
  .map(fact('thing'));

const FOODS: readonly Fact[] = `apple | red | trees | eating
  lemon | yellow | trees | making drinks
  pear | green | trees | eating
  plum | blue | trees | making jam
  corn | yellow | farms | eating
  bread | brown | shops | eating
  milk | white | farms | drinking
  salt | white | the sea | cooking`
  .split('\n')
  .map(fact('food'));

export const FACTS: readonly Fact[] = [...ANIMALS, ...THINGS, ...FOODS];

export const CAPITALS: readonly (readonly [country: string, city: string])[] = [
  ['France', 'Paris'],
  ['England', 'London'],
  ['Germany', 'Berlin'],
  ['Italy', 'Rome'],
  ['Spain', 'Madrid'],
  ['Japan', 'Tokyo'],
  ['Norway', 'Oslo'],
  ['Austria', 'Vienna'],
  ['Egypt', 'Cairo'],
  ['Peru', 'Lima'],
  ['Ireland', 'Dublin'],
  ['Greece', 'Athens'],
  ['Portugal', 'Lisbon'],
];
