// A page of docs as a tree of elements that the browser draws. Made at build time. Links to other pages
// become addresses of the dashboard; links to files of the repository become their text, because a server has no repository. Pictures and
// comments are left out.
import type { Nodes, Parents, Root, TableRow } from 'mdast';
import { fromMarkdown } from 'mdast-util-from-markdown';
import { gfmFromMarkdown } from 'mdast-util-gfm';
import { gfm } from 'micromark-extension-gfm';

export type Tree = string | Branch;

export interface Branch {
  readonly tag: string;
  readonly inside: readonly Tree[];
  readonly id?: string;
  readonly href?: string;
}

export interface ParsedPage {
  readonly title: string;
  readonly tree: readonly Tree[];
}

/** Address of a page, and of a place on it. */
export const placeIn = (page: string, anchor = ''): string =>
  `#/documentation/${page}${anchor === '' ? '' : `?at=${encodeURIComponent(anchor)}`}`;

/** `isPage`: whether a name, without its folder and `.md`, is one of the pages. */
export function parsePage(name: string, text: string, isPage: (name: string) => boolean): ParsedPage {
  const root = fromMarkdown(text, { extensions: [gfm()], mdastExtensions: [gfmFromMarkdown()] });
  const anchors = new Map<string, number>();
  const drawn = (nodes: Parents): Tree[] => nodes.children.flatMap(draw);

  function draw(node: Nodes): readonly Tree[] {
    switch (node.type) {
      case 'text':
        return [node.value];
      case 'inlineCode':
        return [branch('code', [node.value])];
      case 'code':
        return [branch('pre', [branch('code', [node.value])])];
      case 'heading': {
        const slug = slugOf(textOf(node));
        const before = anchors.get(slug) ?? 0;
        anchors.set(slug, before + 1);
        const id = before === 0 ? slug : `${slug}-${before}`;
        return [{ tag: `h${node.depth}`, id, inside: drawn(node) }];
      }
      case 'link': {
        const href = hrefOf(node.url);
        return href === null ? drawn(node) : [{ tag: 'a', href, inside: drawn(node) }];
      }
      case 'list':
        return [branch(node.ordered ? 'ol' : 'ul', drawn(node))];
      case 'listItem': // of a list without empty lines, paragraphs are none
        return [
          branch(
            'li',
            node.spread
              ? drawn(node)
              : node.children.flatMap((each) => (each.type === 'paragraph' ? drawn(each) : draw(each))),
          ),
        ];
      case 'table': {
        const [head, ...rows] = node.children;
        const row = (cells: TableRow, tag: string) =>
          branch(
            'tr',
            cells.children.map((cell) => branch(tag, drawn(cell))),
          );
        const body = branch(
          'tbody',
          rows.map((each) => row(each, 'td')),
        );
        const isNamed = textOf(head!).trim() !== '';
        return [branch('table', isNamed ? [branch('thead', [row(head!, 'th')]), body] : [body])];
      }
      case 'break':
        return [branch('br', [])];
      case 'thematicBreak':
        return [branch('hr', [])];
      case 'paragraph':
      case 'strong':
      case 'emphasis':
      case 'delete':
      case 'blockquote':
        return [branch(TAGS[node.type], drawn(node))];
      case 'root':
      case 'tableRow':
      case 'tableCell':
        return drawn(node);
      case 'html':
      case 'image':
      case 'imageReference':
      case 'linkReference':
      case 'definition':
      case 'footnoteReference':
      case 'footnoteDefinition':
      case 'yaml':
        return [];
    }
  }

  function hrefOf(url: string): string | null {
    if (/^https?:/.test(url)) return url;
    const [path = '', anchor = ''] = url.split('#', 2);
    if (path === '') return placeIn(name, anchor);
    const page = /([^/]+)\.md$/.exec(path)?.[1];
    return page !== undefined && isPage(page) ? placeIn(page, anchor) : null;
  }

  const tree = drawn(root);
  return { title: titleOf(root) ?? name, tree };
}

const branch = (tag: string, inside: readonly Tree[]): Branch => ({ tag, inside });

const TAGS = {
  paragraph: 'p',
  strong: 'strong',
  emphasis: 'em',
  delete: 's',
  blockquote: 'blockquote',
};

const titleOf = ({ children }: Root): string | null => {
  const heading = children.find((node) => node.type === 'heading');
  return heading ? textOf(heading) : null;
};

const textOf = (node: Nodes): string =>
  'value' in node ? node.value : 'children' in node ? node.children.map(textOf).join('') : '';

/** As GitHub makes them: a link to a heading works in both places. */
const slugOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(' ', '-');
