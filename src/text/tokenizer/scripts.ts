// The script of a character as the library's pre-tokenizer UnicodeScripts sees it, after SentencePiece: Japanese scripts are one, and spaces
// and characters that its tables do not have, which are those of about Unicode 9, belong to any.
import { laterIn } from './later-characters.ts';

/** Of Unicode 9; the three first ones are one script. */
const SCRIPTS = (
  'Han Hiragana Katakana Adlam Ahom Anatolian_Hieroglyphs Arabic Armenian Avestan Balinese Bamum Bassa_Vah Batak ' +
  'Bengali Bhaiksuki Bopomofo Brahmi Braille Buginese Buhid Canadian_Aboriginal Carian Caucasian_Albanian Chakma ' +
  'Cham Cherokee Common Coptic Cuneiform Cypriot Cyrillic Deseret Devanagari Duployan Egyptian_Hieroglyphs Elbasan ' +
  'Ethiopic Georgian Glagolitic Gothic Grantha Greek Gujarati Gurmukhi Hangul Hanunoo Hatran Hebrew ' +
  'Imperial_Aramaic Inherited Inscriptional_Pahlavi Inscriptional_Parthian Javanese Kaithi Kannada Kayah_Li ' +
  'Kharoshthi Khmer Khojki Khudawadi Lao Latin Lepcha Limbu Linear_A Linear_B Lisu Lycian Lydian Mahajani Malayalam ' +
  'Mandaic Manichaean Marchen Meetei_Mayek Mende_Kikakui Meroitic_Cursive Meroitic_Hieroglyphs Miao Modi Mongolian ' +
  'Mro Multani Myanmar Nabataean New_Tai_Lue Newa Nko Ogham Ol_Chiki Old_Hungarian Old_Italic Old_North_Arabian ' +
  'Old_Permic Old_Persian Old_South_Arabian Old_Turkic Oriya Osage Osmanya Pahawh_Hmong Palmyrene Pau_Cin_Hau ' +
  'Phags_Pa Phoenician Psalter_Pahlavi Rejang Runic Samaritan Saurashtra Sharada Shavian Siddham SignWriting ' +
  'Sinhala Sora_Sompeng Sundanese Syloti_Nagri Syriac Tagalog Tagbanwa Tai_Le Tai_Tham Tai_Viet Takri Tamil Tangut ' +
  'Telugu Thaana Thai Tibetan Tifinagh Tirhuta Ugaritic Vai Warang_Citi Yi'
).split(' ');

/** Characters that later versions of Unicode moved to another script. */
const MOVED: ReadonlyMap<number, string> = new Map([
  [0x953, 'Devanagari'],
  [0x954, 'Devanagari'],
  [0x589, 'Common'],
  [0x61c, 'Common'],
]);

const JAPANESE = 3;
const PROLONGED_SOUND = 0x30fc;
const isLater = laterIn('scripts');
const expressions = SCRIPTS.map((name) => new RegExp(`\\p{Script=${name}}`, 'u'));
const known = new Map<number, number | null>();

/** A number for each script; null: any. */
export function scriptOf(point: number): number | null {
  let script = known.get(point);
  if (script === undefined) {
    script = findScript(point);
    known.set(point, script); // at most as many as there are characters
  }
  return script;
}

function findScript(point: number): number | null {
  if (point === 0x20 || isLater(point)) return null;
  if (point === PROLONGED_SOUND) return 0;
  const moved = MOVED.get(point);
  const character = String.fromCodePoint(point);
  const at = moved ? SCRIPTS.indexOf(moved) : expressions.findIndex((expression) => expression.test(character));
  return at < 0 ? null : at < JAPANESE ? 0 : at;
}
