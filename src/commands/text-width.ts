// How many columns of a terminal a text takes: letters of East Asia and emoji take two, marks on a letter none.

const WIDE =
  /(?![\uff61-\uffdc])[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Emoji_Presentation}\u3000-\u303e\u30fc\uff01-\uff60\uffe0-\uffe6]/u;
const WITHOUT_WIDTH = /[\p{Mn}\p{Me}\p{Cf}]/u;

export function widthOf(text: string): number {
  if (/^[ -~]*$/.test(text)) return text.length;
  return Array.from(text).reduce((sum, each) => sum + (WITHOUT_WIDTH.test(each) ? 0 : WIDE.test(each) ? 2 : 1), 0);
}
