const HEADER =
  /^(resource|data|ephemeral|module|variable|output|locals)[ \t]*(?:"([^"\n]*)"[ \t]*)?(?:"([^"\n]*)"[ \t]*)?\{/gm
const LOCAL = /^[ \t]{1,8}([A-Za-z_][\w-]*)[ \t]*=(?!=)/gm
const MAX_LOCALS = 40
/** Blocks of locals that are read, and characters of each of them: a repository may hold files of any size. */
const MAX_LOCALS_BLOCKS = 100
const MAX_LOCALS_BLOCK = 20_000

/** A path of code that the engine reads: blocks in either syntax, and values of variables. */
const CODE = /\.(tf|tofu|tfvars)(\.json)?$/

export const isCode = (path: string): boolean => CODE.test(path)
/** Whether a file is the root's own description, which often holds its conventions. */
export const isReadme = (path: string): boolean => /^readme(\.(md|txt))?$/i.test(path)
export const isJsonCode = (path: string): boolean => /\.(tf|tofu)\.json$/.test(path)
export const isValues = (path: string): boolean => /\.tfvars(\.json)?$/.test(path)

/** Lists what a file declares at its top level; empty for what is no code and for files of values. */
export function declaredBlocksIn(path: string, text: string): string[] {
  if (isJsonCode(path)) return readDeclaredJson(text)
  return /\.(tf|tofu)$/.test(path) ? readDeclaredBlocks(text) : []
}

/**
 * Lists what a file of the engine's language declares at its top level: `resource type.name`, `data type.name`,
 * `ephemeral type.name`,
 * `module name`, `variable name`, `output name`, `local name`. The file is not parsed: a block is found when its header
 * begins at the first column, as formatters write it.
 */
export function readDeclaredBlocks(text: string): string[] {
  const blocks: string[] = []
  let localsBlocks = 0
  for (const { 0: header, 1: kind, 2: first, 3: second, index } of text.matchAll(HEADER)) {
    if (kind === 'locals') {
      const start = index + header.length
      if (++localsBlocks <= MAX_LOCALS_BLOCKS) blocks.push(...readLocals(text.slice(start, start + MAX_LOCALS_BLOCK)))
    } else if (first !== undefined) blocks.push(`${kind} ${second === undefined ? first : `${first}.${second}`}`)
  }
  return blocks
}

/** Names of the locals in a block, which are those at its smallest indentation. `rest` begins after its header. */
function readLocals(rest: string): string[] {
  const end = rest.search(/^\}/m)
  const body = end < 0 ? rest : rest.slice(0, end)
  const entries = [...body.matchAll(LOCAL)].map(({ 0: whole, 1: name = '' }) => ({ name, indent: whole.search(/\S/) }))
  const least = Math.min(...entries.map(({ indent }) => indent))
  return entries
    .filter(({ indent }) => indent === least)
    .slice(0, MAX_LOCALS)
    .map(({ name }) => `local ${name}`)
}

/** Lists the same of a file in the JSON syntax; empty when it is no JSON. */
function readDeclaredJson(text: string): string[] {
  const code = parseObject(text)
  const names = (kind: string) => bodiesOf(code[kind]).flatMap((body) => Object.keys(body))
  const typed = (kind: string) =>
    bodiesOf(code[kind]).flatMap((body) =>
      Object.entries(body).flatMap(([type, blocks]) =>
        bodiesOf(blocks).flatMap((named) => Object.keys(named).map((name) => `${kind} ${type}.${name}`)),
      ),
    )
  return [
    ...typed('resource'),
    ...typed('data'),
    ...typed('ephemeral'),
    ...['module', 'variable', 'output'].flatMap((kind) => names(kind).map((name) => `${kind} ${name}`)),
    ...names('locals').map((name) => `local ${name}`),
  ]
}

/** The object that a text of JSON holds; empty when it holds none. */
export function parseObject(text: string): Record<string, unknown> {
  try {
    return bodiesOf(JSON.parse(text))[0] ?? {}
  } catch {
    return {}
  }
}

/** The JSON syntax has one object, or a list of them, where the other has blocks. */
export const bodiesOf = (value: unknown): Record<string, unknown>[] =>
  (Array.isArray(value) ? value : [value]).filter((body) => typeof body === 'object' && body !== null)
