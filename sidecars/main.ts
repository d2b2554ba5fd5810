import { tuneNode } from '../src/runtime/node-tuning.ts'

/** A sidecar: its summary, its main variables and its entry. Each configures itself from the environment. */
interface Sidecar {
  summary: string
  /** Variables with their meaning, the most important first. */
  variables: readonly (readonly [name: string, meaning: string])[]
  load: () => Promise<{ main: () => Promise<void> }>
}

const COMMON = [
  ['PLATFORM_PORT', 'port; 0 for any free one'],
  ['PLATFORM_HOST', 'address (default 0.0.0.0: all interfaces; with a blank token 127.0.0.1)'],
] as const

const SIDECARS: Record<string, Sidecar> = {
  iac: {
    summary: 'runs the infrastructure-as-code engine as jobs, port 8082',
    variables: [
      ['PLATFORM_IAC_TOKEN', 'bearer token; blank accepts every request, on loopback only'],
      ['IAC_BINARY', 'engine (default: tofu, then terraform, on PATH)'],
      ['IAC_DOWNLOAD', 'true fetches a pinned engine when there is none'],
      ['IAC_DATA_DIR', 'job records and output'],
      ['IAC_ALLOWED_PROVIDERS', 'sources of providers that may run, for example hashicorp/*'],
      ['IAC_OFFLINE', 'true downloads nothing'],
    ],
    load: () => import('./iac/main.ts'),
  },
  authz: {
    summary: 'answers whether a user may operate on a cloud resource, port 8083',
    variables: [
      ['PLATFORM_AUTHZ_TOKEN', 'bearer token; blank accepts every request, on loopback only'],
      ['PLATFORM_AUTHZ_PERMISSIVE', 'true (default) grants every check'],
      ['PLATFORM_AUTHZ_ROLE_STORE', 'JSON file of users and roles (default /data/roles.json)'],
      ['PLATFORM_AUTHZ_ROOT_ADMIN_EMAIL', 'holds role admin from the start'],
    ],
    load: () => import('./authz/main.ts'),
  },
  notifications: {
    summary: 'delivers notifications to a chat, by e-mail or to a webhook, port 8080',
    variables: [
      ['PLATFORM_NOTIFICATIONS_TOKEN', 'bearer token; blank accepts every request, on loopback only'],
      ['PLATFORM_NOTIFICATIONS_CHANNEL', 'chat (default), email or webhook'],
      ['CHAT_WEBHOOK_URL', 'incoming webhook of the chat'],
      ['SMTP_URL, NOTIFICATIONS_EMAIL_FROM, NOTIFICATIONS_EMAIL_TO', 'for e-mail'],
      ['NOTIFICATIONS_WEBHOOK_URL, NOTIFICATIONS_WEBHOOK_SECRET', 'for a signed webhook'],
      ['LOG_LEVEL', 'default INFO'],
    ],
    load: () => import('./notifications/main.ts'),
  },
  mapping: {
    summary: 'resolves a repository identifier to address, cloud and scope, port 8081',
    variables: [
      ['PLATFORM_MAPPING_TOKEN', 'bearer token; blank accepts every request, on loopback only'],
      ['PLATFORM_MAPPING_CATALOGUE', 'YAML file of what is known; read again when it changes'],
      ['PLATFORM_MAPPING_STRICT', 'true refuses what the catalogue does not hold'],
    ],
    load: () => import('./mapping/main.ts'),
  },
}

const usage = [
  'Usage: npm run sidecar -- <name> [--help]',
  '',
  ...Object.entries(SIDECARS).map(([name, { summary }]) => `  ${name.padEnd(13)}  ${summary}`),
  '',
  'docs/sidecars.md explains every variable.',
].join('\n')

const helpOf = (name: string, { summary, variables }: Sidecar) =>
  [
    `npm run sidecar -- ${name}: ${summary}`,
    '',
    ...[...variables, ...COMMON].map(([names, meaning]) => `  ${names}\n      ${meaning}`),
  ].join('\n')

const [name, ...rest] = process.argv.slice(2)
const sidecar = name !== undefined && Object.hasOwn(SIDECARS, name) ? SIDECARS[name] : undefined
const asksHelp = (text: string | undefined) => text === '--help' || text === '-h'

if (asksHelp(name)) console.log(usage)
else if (name !== undefined && sidecar && rest.some(asksHelp)) console.log(helpOf(name, sidecar))
else if (sidecar && rest.length === 0) {
  tuneNode()
  await (await sidecar.load()).main()
} else {
  console.error(usage)
  process.exitCode = 2
}
