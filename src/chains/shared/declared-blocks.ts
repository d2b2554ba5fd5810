import { readHcl } from '../../hcl/read.ts'
import { bodiesOf, isJsonCode, parseObject } from '../../plan/code/modules.ts'

const LISTED = new Set(['resource', 'data', 'ephemeral', 'module', 'variable', 'output'])

/** A path of code that the engine reads: blocks in either syntax, and values of variables. */
const CODE = /\.(tf|tofu|tfvars)(\.json)?$/

export const isCode = (path: string): boolean => CODE.test(path)
/** True for the root's own description, which often holds its conventions. */
export const isReadme = (path: string): boolean => /^readme(\.(md|txt))?$/i.test(path)

/** Lists the top-level declarations of a file; empty for other than code and for value files. */
export function declaredBlocksIn(path: string, text: string): string[] {
  if (isJsonCode(path)) return readDeclaredJson(text)
  return /\.(tf|tofu)$/.test(path) ? readDeclaredBlocks(text) : []
}

/**
 * Lists the top-level declarations of a file in the engine's language: `resource type.name`, `data type.name`,
 * `ephemeral type.name`, `module name`, `variable name`, `output name`, `local name`.
 */
export const readDeclaredBlocks = (text: string): string[] =>
  readHcl(text).body.blocks.flatMap(({ type, labels, body }) => {
    if (type === 'locals') return body.attributes.slice(0, 40).map(({ name }) => `local ${name}`)
    return LISTED.has(type) && labels.length > 0 ? [`${type} ${labels.slice(0, 2).join('.')}`] : []
  })

/** Lists the same of a file in the JSON syntax; empty for invalid JSON. */
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
