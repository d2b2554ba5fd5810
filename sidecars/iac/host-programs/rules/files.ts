import { blocksOf, type ConfigEntry, type ConfigTree, descendantsOf, entriesNamed, stringsOf } from '../config-tree.ts'
import type { FileScan } from '../findings.ts'
import { ADDRESS_WHY, addressReach, type Place, pathReach } from './place.ts'
import { addressArguments, fileArguments } from './provider-files.ts'

type Findings = FileScan['findings']

/** Functions whose first argument is a path, the ones of the provider `local` included. */
const FILE_FUNCTIONS = new Set([
  'abspath',
  'direxists',
  'file',
  'filebase64',
  'filebase64sha256',
  'filebase64sha512',
  'fileexists',
  'filemd5',
  'fileset',
  'filesha1',
  'filesha256',
  'filesha512',
  'pathexpand',
  'templatefile',
])

const TYPED_BLOCKS = ['data', 'ephemeral', 'resource']

/** Finds literal paths out of the repository, in function calls and in arguments that name a file. */
export function findFiles({ root, calls }: ConfigTree, place: Place): Findings {
  const called = calls.flatMap(({ name, line, args: [first, second] }): Findings => {
    if (!FILE_FUNCTIONS.has(name)) return []
    const reach = pathReach(first, place) ?? (name === 'fileset' ? patternReach(first, second, place) : null)
    return reach === null ? [] : [{ line, construct: `${name}(${shown(first)})`, reach }]
  })
  const scopes = [root, ...blocksOf(root, 'check', 1).map(({ body }) => body)]
  const typed = scopes.flatMap((scope) =>
    TYPED_BLOCKS.flatMap((block) =>
      blocksOf(scope, block, 2).flatMap(({ labels: [type = ''], body }) =>
        [...findPaths(type, body, place), ...findCopies(body, place), ...findRequests(type, body, place)].map(
          (finding) => ({ ...finding, construct: `${block} "${type}" with ${finding.construct}` }),
        ),
      ),
    ),
  )
  return [...called, ...typed]
}

const PATH_MARK = /\0(module|root)\0/g

type CallArgument = ConfigTree['calls'][number]['args'][number] | undefined

/** Checks the pattern of `fileset`, which is joined to its folder and so can leave it as well. */
function patternReach(folder: CallArgument, pattern: CallArgument, place: Place): string | null {
  if (pattern?.kind !== 'string') return null
  const known = folder?.kind === 'string' && folder.whole ? folder.value.trim() : '.'
  return pathReach({ ...pattern, value: `${known || '.'}/${pattern.value}` }, place)
}

const shown = (node: CallArgument): string =>
  node?.kind === 'string' ? JSON.stringify(node.value.replaceAll(PATH_MARK, (_mark, name) => `\${path.${name}}`)) : '…'

function findPaths(type: string, body: ConfigTree['root'], place: Place): Findings {
  return fileArguments(type).flatMap((path) =>
    entriesAt(body, path.split('.')).flatMap(({ line, value }) => {
      const reach = pathReach(value, place)
      return reach === null ? [] : [{ line, construct: path, reach }]
    }),
  )
}

/** Finds nested entries at every depth, because `dynamic` adds blocks around them. */
const entriesAt = (body: ConfigTree['root'], [name = '', ...rest]: string[]): ConfigEntry[] =>
  rest.length === 0 ? entriesNamed(body, name) : [...descendantsOf(body)].filter(({ key }) => key === rest.at(-1))

/** Finds the provisioner `file`, which copies from this machine to another. */
function findCopies(body: ConfigTree['root'], place: Place): Findings {
  return blocksOf(body, 'provisioner', 1).flatMap(({ body: copy }) =>
    entriesNamed(copy, 'source').flatMap(({ line, value }) => {
      const reach = pathReach(value, place)
      return reach === null ? [] : [{ line, construct: 'source of provisioner "file"', reach }]
    }),
  )
}

/** Finds requests that providers make themselves, mostly during a plan. */
function findRequests(type: string, body: ConfigTree['root'], place: Place): Findings {
  const names = addressArguments(type)
  if (names.length === 0) return []
  return [...descendantsOf(body)].flatMap(({ key, line, value }) =>
    key !== null && names.includes(key)
      ? [...stringsOf(value)].flatMap(({ value: text }) => {
          const reach = addressReach(text, place)
          return reach === null || reach === 'a private network'
            ? []
            : [{ line, construct: key, reach: ADDRESS_WHY(reach) }]
        })
      : [],
  )
}
