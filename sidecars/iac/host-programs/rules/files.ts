import { blocksOf, type ConfigTree, descendantsOf, entriesNamed, stringsOf } from '../config-tree.ts'
import type { FileScan } from '../findings.ts'
import { ADDRESS_WHY, addressReach, type Place, pathReach } from './place.ts'

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

/** Types that read or write a file of the engine's machine, with the arguments that name it. */
const FILE_TYPES: Record<string, string[] | undefined> = Object.assign(Object.create(null), {
  archive_file: ['source_file', 'source_dir', 'output_path'],
  aws_lambda_function: ['filename'],
  aws_lambda_layer_version: ['filename'],
  aws_s3_bucket_object: ['source'],
  aws_s3_object: ['source'],
  azurerm_storage_blob: ['source'],
  azurerm_storage_share_file: ['source'],
  google_storage_bucket_object: ['source'],
  helm_release: ['chart', 'keyring', 'repository_ca_file', 'repository_cert_file', 'repository_key_file'],
  helm_template: ['chart', 'keyring', 'repository_ca_file', 'repository_cert_file', 'repository_key_file'],
  local_file: ['filename', 'source'],
  local_sensitive_file: ['filename', 'source'],
  oci_objectstorage_object: ['source'],
  template_dir: ['source_dir', 'destination_dir'],
  template_file: ['filename'],
})
const TYPED_BLOCKS = ['data', 'ephemeral', 'resource']

/** Literal paths that leave the repository, in calls of functions and in arguments that name a file. */
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

/** The pattern of `fileset` is joined to its folder, so it can climb as well. */
function patternReach(folder: CallArgument, pattern: CallArgument, place: Place): string | null {
  if (pattern?.kind !== 'string') return null
  const known = folder?.kind === 'string' && folder.whole ? folder.value.trim() : '.'
  return pathReach({ ...pattern, value: `${known || '.'}/${pattern.value}` }, place)
}

const shown = (node: CallArgument): string =>
  node?.kind === 'string' ? JSON.stringify(node.value.replaceAll(PATH_MARK, (_mark, name) => `\${path.${name}}`)) : '…'

function findPaths(type: string, body: ConfigTree['root'], place: Place): Findings {
  return (FILE_TYPES[type] ?? []).flatMap((name) =>
    entriesNamed(body, name).flatMap(({ line, value }) => {
      const reach = pathReach(value, place)
      return reach === null ? [] : [{ line, construct: name, reach }]
    }),
  )
}

/** The provisioner `file` copies from this machine to another. */
function findCopies(body: ConfigTree['root'], place: Place): Findings {
  return blocksOf(body, 'provisioner', 1).flatMap(({ body: copy }) =>
    entriesNamed(copy, 'source').flatMap(({ line, value }) => {
      const reach = pathReach(value, place)
      return reach === null ? [] : [{ line, construct: 'source of provisioner "file"', reach }]
    }),
  )
}

/** Requests of the provider `http`, which are made while a plan is drawn up. */
function findRequests(type: string, body: ConfigTree['root'], place: Place): Findings {
  if (type !== 'http') return []
  return [...descendantsOf(body)].flatMap(({ key, line, value }) =>
    key === 'url'
      ? [...stringsOf(value)].flatMap(({ value: text }) => {
          const reach = addressReach(text, place)
          return reach === null || reach === 'a private network'
            ? []
            : [{ line, construct: 'url', reach: ADDRESS_WHY(reach) }]
        })
      : [],
  )
}
