import { readFileSync } from 'node:fs';
import { readSftLine } from '#rows/sft';
import { createChatTemplate } from '#text/chat-template';
import { createTokenizer } from '#text/tokenizer';
import { tokenizeSftRow } from '#training/sft-rows';
import { createConversationEncoder } from '#services/jobs/data/conversation-encoder';
const { now, rows, templates, cases } = JSON.parse(readFileSync('test/golden/fixtures/examples/expected.json','utf8'));
const tokenizers = JSON.parse(readFileSync('test/golden/fixtures/examples/tokenizers.json','utf8'));
const clock = { now: () => new Date(now).getTime() };
const [only, title] = process.argv.slice(2);
for (const c of cases) {
  if (only && `${c.template}/${c.tokenizer}` !== only) continue;
  const namedTokens = new Map<string,string>([['eos_token', c.stops[0]], ...(c.bos ? [['bos_token', c.bos] as const] : [])] as never);
  const tokenizer = createTokenizer({ tokenizer: tokenizers[c.tokenizer], config: {}, addedTokens: c.added, namedTokens } as never, 'x');
  let enc;
  try {
  const chatTemplate = createChatTemplate({ default: templates[c.template] }, namedTokens, clock);
  enc = createConversationEncoder('x', { tokenizer, chatTemplate, eosTokenIds: c.stops.map((s: string) => tokenizer.tokenId(s)!) }, tokenizer.vocabSize);
  } catch (e) { console.log(c.template, c.tokenizer, 'ENCODER', String(e).slice(0, 300)); continue; }
  for (const k of c.conversations) {
    if (title && k.name !== title) continue;
    const show = (ids: number[], tr: [number, number][]) => ids.map((id, i) => { const t = tokenizer.tokenText(id) || `#${id}`; const m = tr.some(([a,b]) => i >= a && i < b); return m ? `\x1b[32m${JSON.stringify(t)}\x1b[0m` : t.replaceAll('\n','⏎'); }).join('·');
    try {
      const row = (readSftLine(rows[k.name]) as any).row;
      const got = await tokenizeSftRow(row, enc, 'all');
      const mine = got.sequences.map(({ tokens, trained }) => { const r: [number,number][] = []; trained.forEach((t, i) => { if (t) { if (r.length && r.at(-1)![1] === i) r.at(-1)![1]++; else r.push([i, i+1]); } }); return { ids: [...tokens], trained: r }; });
      if (k.refused) { console.log(c.template, c.tokenizer, k.name, 'SHOULD REFUSE', k.refused); continue; }
      if (!k.sequences) { const last = mine.at(-1)!; const same = last && last.ids.every((id, i) => id === k.ids[i] || i >= k.ids.length); if (!same) console.log(c.template, c.tokenizer, k.name, 'IDS\n  exp', show(k.ids, []), '\n  got', last ? show(last.ids, last.trained) : got.problem); else if (only) for (const m of mine) console.log('  ok', show(m.ids, m.trained)); continue; }
      if (JSON.stringify(mine) !== JSON.stringify(k.sequences)) {
        console.log('##', c.template, c.tokenizer, k.name, mine.length, k.sequences.length);
        if (only || process.env.ALL) { for (const s of k.sequences) console.log('  exp', show(s.ids, s.trained)); for (const s of mine) console.log('  got', show(s.ids, s.trained)); }
      } else if (only) for (const m of mine) console.log('  ok', show(m.ids, m.trained));
    } catch (e) { if (k.refused) continue; console.log(c.template, c.tokenizer, k.name, 'THREW', String(e).slice(0, 200)); }
  }
}
