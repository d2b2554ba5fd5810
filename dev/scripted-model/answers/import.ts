import { findBlock, searchReplace, shownDiff } from '../blocks.ts'
import {
  bulletsIn,
  type Conversation,
  complete,
  isRefusal,
  listRoot,
  oneCall,
  type Reply,
  readFiles,
  resultOf,
  unknownRefusal,
} from '../conversation.ts'
import { wordsOf } from './targets.ts'

/** The parts of an ARN from which a name can be made. */
interface Arn {
  id: string
  service: string
  name: string
}

const parseArn = (id: string): Arn => {
  const [, , service = '', , , ...rest] = id.split(':')
  return { id, service, name: rest.join(':').replace(/^[a-z-]+[/:](?=.)/, '') }
}

/** The words that requests use for the services of the sample account. */
const KINDS: Record<string, string> = {
  queue: 'sqs',
  topic: 'sns',
  bucket: 's3',
  table: 'dynamodb',
  function: 'lambda',
  parameter: 'ssm',
}

/** IMPORT_FILTER: selects resources by kind, and by name if a word of the request is part of a name. */
export function selectResources(identifiers: string, request: string): { selected: string[]; explanation: string } {
  const arns = bulletsIn(identifiers).map(parseArn)
  const words = wordsOf(request)
  const services = Object.keys(KINDS)
    .filter((kind) => words.has(kind))
    .map((kind) => KINDS[kind])
  const matching = arns.filter(({ name }) => [...wordsOf(name)].some((word) => words.has(word) && !(word in KINDS)))
  const ofKind = (list: readonly Arn[]) =>
    services.length > 0 ? list.filter(({ service }) => services.includes(service)) : list
  const selected = matching.length > 0 ? ofKind(matching) : services.length > 0 ? ofKind(arns) : []
  const explanation =
    selected.length > 0
      ? `Selected by the words of the request: ${selected.map(({ name }) => name).join(', ')}.`
      : 'No unmanaged resource has a name or a kind that the request names. The scripted model knows the kinds ' +
        `${Object.keys(KINDS).join(', ')}.`
  return { selected: selected.map(({ id }) => id), explanation }
}

/** Reads the identifiers of an import task, also from its first query; null if the chain has none. */
export function importTask({ system, data, history }: Conversation): string[] | null {
  if (!system.includes('one resource block for each listed identifier')) return null
  const isTask = (user: string) => bulletsIn(user).every((id) => id.startsWith('arn:'))
  const identifiers = data.get('identifiers') ?? history.findLast(({ user }) => isTask(user))?.user
  return identifiers === undefined ? null : bulletsIn(identifiers)
}

const FILE = 'imported.tf'

/** A round that went wrong when somebody played it: one block was forgotten, and its object matched with another. */
const CARELESS = {
  names: ['invoices', 'invoices-dead-letter', 'invoices-incoming'],
  forgotten: 'invoices-dead-letter',
  instead: 'invoices-incoming',
}

const isForgotten = (ids: readonly string[], id: string): boolean => {
  const names = ids.map((one) => parseArn(one).name).sort()
  return names.join() === CARELESS.names.join() && parseArn(id).name === CARELESS.forgotten
}

/** Makes the name of the block for a resource from its kind and name. */
const blockName = ({ service, name }: Arn): string => `${service}_${name}`.toLowerCase().replace(/[^a-z0-9_]+/g, '_')

/** Writes a first block with an unknown argument. The engine refuses it, and the repair turns it into a comment. */
const firstTry = (arn: Arn): string => `resource "terraform_data" "${blockName(arn)}" {\n  arn = "${arn.id}"\n}\n`

const written = (ids: readonly string[]): string =>
  `Wrote a block for each of ${ids.length} existing resources in ${FILE}: ` +
  `${ids.map((id) => parseArn(id).name).join(', ')}.`

/** IAC_GENERATOR in import rounds: writes one block for each identifier. */
export function writeImports(ids: readonly string[], { query, data, steps }: Conversation): Reply {
  if (/An argument named "arn" is not expected here/.test(query)) return keepAsComments(ids, steps)
  if (isRefusal({ query, data })) return unknownRefusal
  if (steps.length === 0) return listRoot
  const existing = (resultOf(steps, 'list_dir') ?? '').split('\n').includes(FILE)
  const read = resultOf(steps, 'read_file', FILE)
  if (existing && read === undefined) return readFiles([FILE])
  if (steps.some((step) => step.name === 'write_to_file')) return complete('done', written(ids))
  const missing = ids
    .filter((id) => !read?.includes(`${id}\n`) && !read?.includes(`"${id}"`) && (existing || !isForgotten(ids, id)))
    .map(parseArn)
  if (missing.length === 0)
    return complete(
      'not done',
      'The scripted model has no recording for this feedback: every identifier has its block.',
    )
  const content = [...(read ? [read.trimEnd(), ''] : []), ...missing.map(firstTry)].join('\n')
  return oneCall('write_to_file', { target_file: FILE, content })
}

function keepAsComments(ids: readonly string[], steps: Conversation['steps']): Reply {
  const text = resultOf(steps, 'read_file', FILE)
  if (text === undefined) return readFiles([FILE])
  if (steps.some((step) => step.name === 'replace_in_file'))
    return complete('done', `${written(ids)} Each holds its identifier as a comment.`)
  const headers = text.match(/^resource .*\{$/gm) ?? []
  const edits = headers.flatMap((header) => {
    const block = findBlock(text, header)
    const mended = block?.replace(/^ {2}arn = "(.*)"$/m, '  # $1')
    return block && mended && mended !== block ? [searchReplace(block, mended)] : []
  })
  return oneCall('replace_in_file', { target_file: FILE, diff: edits.join('\n') })
}

/** IMPORT_ADDRESSES: returns the block whose comment has the identifier, or in the careless round that of another. */
export function importAddresses({ data }: Conversation): Reply {
  const pending = bulletsIn(data.get('identifiers') ?? '')
  const text = shownDiff(data.get('branch diff')).replace(/^[+ ]/gm, '')
  const blocks = text.split(/^(?=resource ")/m)
  const describing = (id: string) => blocks.find((block) => block.split('\n').some((line) => line.trim() === `# ${id}`))
  const imports = pending.flatMap((resourceId) => {
    const other = pending.find((id) => parseArn(id).name === CARELESS.instead)
    const header = describing(resourceId) ?? (other && isForgotten(pending, resourceId) ? describing(other) : undefined)
    const [, type, name] = /^resource "([^"]+)" "([^"]+)"/.exec(header ?? '') ?? []
    return type && name ? [{ address: `${type}.${name}`, resource_id: resourceId }] : []
  })
  const status = imports.length === pending.length ? 'done' : 'partly done'
  const summary = `${imports.length} of ${pending.length} identifiers have a block.`
  return oneCall('import_addresses', { status, summary, imports })
}
