// The channels of the harmony format that gpt-oss writes: `analysis` is reasoning, `final` and `commentary` are the answer, without their
// headers. Messages to a recipient are calls: they stay in the answer as written, for the parser of calls. An answer that begins without
// a header, as under a constraint, is content.
import { beginningAtEnd } from '../beginning-at-end.ts';
import { HEADER_CHARACTERS_MAX, isHarmonyHeader, MESSAGE } from '../harmony-header.ts';
import type { ReasonedText, ReasoningParser, ThinkingState } from './reasoned-text.ts';

const ENDS = ['<|end|>', '<|return|>', '<|call|>'];
/** They begin the header of the next message, even if the last one was not ended. */
const STARTS = ['<|start|>', '<|channel|>'];
const CHANNEL = /<\|channel\|>\s*(\w+)/;
const RECIPIENT = /(?:^|\s)to=\S/;
/** The last one, if the prompt ends inside the header. */
const OPENINGS = [...STARTS, ' to='];

type Part = 'thinking' | 'content' | 'call';

export function createHarmonyChannels(state: ThinkingState): ReasoningParser {
  let place: 'beginning' | 'header' | 'message' | 'behind' = state === 'open' ? 'message' : 'beginning';
  let part: Part = state === 'open' ? 'thinking' : 'content';
  let said: Readonly<Record<Part, boolean>> = { thinking: false, content: false, call: true };
  let gap = ''; // written before the next piece of the part, so that two messages do not run together
  let pending = '';

  /** Null: more text is needed. */
  function step(over: boolean): ReasonedText | null {
    if (pending === '') return null;
    switch (place) {
      case 'beginning':
        return readBeginning(over);
      case 'header':
        return readHeader(over);
      case 'message':
        return readMessage(over);
      case 'behind':
        return readBehind(over);
    }
  }

  function readBeginning(over: boolean): ReasonedText | null {
    if (!over && OPENINGS.some((each) => each.startsWith(pending))) return null;
    if (OPENINGS.some((each) => pending.startsWith(each))) place = 'header';
    else beginMessage('content');
    return NOTHING;
  }

  function readHeader(over: boolean): ReasonedText | null {
    const end = pending.indexOf(MESSAGE);
    const header = end < 0 ? pending : pending.slice(0, end);
    const length = header.length - (end < 0 ? beginningAtEnd(header, [MESSAGE]) : 0);
    const isHeader = end < 0 ? length <= HEADER_CHARACTERS_MAX : isHarmonyHeader(header);
    if (isHeader && end < 0 && !over) return null;
    if (!isHeader || end < 0) {
      beginMessage('content');
      return say(OPENINGS.find((each) => pending.startsWith(each))!);
    }
    const isCall = RECIPIENT.test(header);
    beginMessage(isCall ? 'call' : CHANNEL.exec(header)?.[1] === 'analysis' ? 'thinking' : 'content');
    if (isCall) return say(header + MESSAGE);
    pending = pending.slice(end + MESSAGE.length);
    return NOTHING;
  }

  function beginMessage(next: Part): void {
    part = next;
    gap = said[next] && next !== 'call' ? '\n' : '';
    place = 'message';
  }

  /** `text` is at the beginning of the pending text. */
  function say(text: string): ReasonedText {
    pending = pending.slice(text.length);
    if (text === '') return NOTHING;
    const piece = gap + text;
    gap = '';
    said = { ...said, [part]: true };
    return part === 'thinking' ? { reasoning: piece, content: '' } : { reasoning: '', content: piece };
  }

  function readMessage(over: boolean): ReasonedText | null {
    const marks = [...ENDS, ...STARTS];
    const found = marks.map((mark) => ({ mark, at: pending.indexOf(mark) })).filter(({ at }) => at >= 0);
    if (found.length === 0) {
      const kept = over ? 0 : beginningAtEnd(pending, marks);
      return kept === pending.length ? null : say(pending.slice(0, pending.length - kept));
    }
    const { mark, at } = found.reduce((first, each) => (each.at < first.at ? each : first));
    const isStart = STARTS.includes(mark);
    place = isStart ? 'header' : 'behind';
    const isCall = part === 'call' && !isStart;
    const text = say(pending.slice(0, isCall ? at + mark.length : at));
    if (!isCall && !isStart) pending = pending.slice(mark.length);
    return text;
  }

  /** Between messages there is only the next header. */
  function readBehind(over: boolean): ReasonedText | null {
    const text = pending.trimStart();
    if (STARTS.some((each) => text.startsWith(each))) {
      pending = text;
      place = 'header';
      return NOTHING;
    }
    if (!over && STARTS.some((each) => each.startsWith(text))) return null;
    if (text === '') return null;
    beginMessage('content');
    return NOTHING;
  }

  function read(over: boolean): ReasonedText {
    let reasoning = '';
    let content = '';
    for (let more = step(over); more !== null; more = step(over)) {
      reasoning += more.reasoning;
      content += more.content;
    }
    return { reasoning, content };
  }

  return {
    push(text) {
      pending += text;
      return read(false);
    },
    flush: () => read(true),
    get thinking() {
      return place === 'message' && part === 'thinking';
    },
  };
}

const NOTHING: ReasonedText = { reasoning: '', content: '' };
