import { type ConfigNode, entriesNamed, entriesOf } from '../config-tree.ts'

/** The permitted arguments of a known program: its fixed first words, options with a value, and options without one. */
interface CredentialProgram {
  words: readonly string[]
  valued: RegExp
  flags?: RegExp
}

/**
 * Programs that answer with a short-lived token of a cluster, by their names on the engine's own PATH or with
 * the path of a folder of installed programs. Options that
 * name files, addresses or further programs are left out.
 */
const PROGRAMS: Record<string, CredentialProgram> = {
  aws: {
    words: ['eks', 'get-token'],
    valued: /^--(?:cluster-name|cluster-id|role-arn|region|profile|output)$/,
    flags: /^--no-cli-pager$/,
  },
  'aws-iam-authenticator': { words: ['token'], valued: /^(?:-i|--cluster-id|-r|--role|--region|--session-name)$/ },
  'gke-gcloud-auth-plugin': {
    words: [],
    valued: /^--(?:cluster|location|project|impersonate_service_account)$/,
    flags: /^--use_application_default_credentials$/,
  },
  kubelogin: {
    words: ['get-token'],
    valued: /^(?:-l|--login|-e|--environment|-t|--tenant-id|--server-id|--client-id|--client-secret)$/,
  },
  oci: { words: ['ce', 'cluster', 'generate-token'], valued: /^--(?:cluster-id|region|profile|auth)$/ },
}

/** The folders of programs that only the operator's machine fills. */
const INSTALLED = /^\/usr\/(?:local\/)?bin\/(?=[a-z-]+$)/

/** Variables that choose an identity. Others could name a file, an address or a program. */
const VARIABLES =
  /^(?:AWS_(?:PROFILE|REGION|DEFAULT_REGION|STS_REGIONAL_ENDPOINTS|ACCESS_KEY_ID|SECRET_ACCESS_KEY|SESSION_TOKEN)|AAD_(?:LOGIN_METHOD|SERVICE_PRINCIPAL_CLIENT_(?:ID|SECRET))|AZURE_(?:CLIENT_ID|CLIENT_SECRET|TENANT_ID)|CLOUDSDK_CORE_PROJECT|USE_GKE_GCLOUD_AUTH_PLUGIN)$/
const MEMBERS = ['api_version', 'command', 'args', 'env', 'interactive_mode']

/** Reports whether each `exec` in a value, a block or an object, runs a known program with known arguments. */
export function isCredentialProgram(value: ConfigNode): boolean {
  const bodies = value.kind === 'array' ? value.items : [value]
  return bodies.length > 0 && bodies.every(isKnown)
}

function isKnown(body: ConfigNode): boolean {
  const keys = entriesOf(body).map(({ key }) => key)
  if (body.kind !== 'object' || new Set(keys).size < keys.length) return false
  if (!keys.every((key) => key !== null && MEMBERS.includes(key))) return false
  const [command, args, env] = ['command', 'args', 'env'].map((key) => entriesNamed(body, key)[0]?.value)
  if (command?.kind !== 'string' || !command.whole) return false
  const name = command.value.replace(INSTALLED, '')
  if (!Object.hasOwn(PROGRAMS, name)) return false
  const program = PROGRAMS[name]
  const variables = env === undefined || (env.kind === 'object' && entriesOf(env).every(isKnownVariable))
  return variables && program !== undefined && (args === undefined || args.kind === 'array')
    ? takesWords(program, args?.items ?? [])
    : false
}

const isKnownVariable = ({ key }: { key: string | null }): boolean => key !== null && VARIABLES.test(key)

/** Values of options may be computed, but every option and every word outside of one is literal. */
function takesWords({ words, valued, flags }: CredentialProgram, args: readonly ConfigNode[]): boolean {
  const literal = (node: ConfigNode | undefined) => (node?.kind === 'string' && node.whole ? node.value : null)
  if (!words.every((word, index) => literal(args[index]) === word)) return false
  for (let at = words.length; at < args.length; at++) {
    const node = args[at]
    const [option = '', ...joined] = node?.kind === 'string' ? node.value.split('=') : []
    if (joined.length > 0 && valued.test(option)) {
      if (isForeign(joined.join('='))) return false
    } else if (flags?.test(literal(node) ?? '')) continue
    else if (valued.test(literal(node) ?? '')) {
      const value = args[++at]
      if (value === undefined || (value.kind === 'string' && isForeign(value.value))) return false
    } else return false
  }
  return true
}

/** Values that the programs themselves read as a file or address, or as the next option. */
const isForeign = (value: string): boolean => /^(?:-|fileb?:|https?:)/i.test(value)
