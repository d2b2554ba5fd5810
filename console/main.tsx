import { QueryClient, QueryClientProvider } from '@tanstack/preact-query'
import { RouterProvider } from '@tanstack/react-router'
import { render } from 'preact'
import { ApiError, createApi } from './client/api/client.ts'
import { type AuthConfig, createSignIn } from './client/auth/sign-in.ts'
import { type ConsoleConfig, meQuery, type Platform, PlatformProvider } from './client/platform.ts'
import { askForPlan, type ReadSession, sessionKey, sessionQuery } from './client/sessions/use-session.ts'
import { loadSettings } from './client/settings.ts'
import { router } from './routes.tsx'
import { ClockContext } from './ui/kit.tsx'
import { SignInGate, Unavailable } from './ui/shell/frame.tsx'

/** Reads `config.json`, which the core writes for a console that it serves, and otherwise an operator. */
async function readConfig(): Promise<ConsoleConfig> {
  const response = await fetch('/console/config.json')
  if (!response.ok) throw new Error('no configuration')
  const { api_url, examples = [], auth, token } = (await response.json()) as Partial<ConsoleConfig>
  return { api_url: (api_url || '/api/v1').replace(/\/+$/, ''), examples, auth, token }
}

async function readAuth({ api_url, auth }: ConsoleConfig): Promise<AuthConfig> {
  if (auth) return auth
  const response = await fetch(`${api_url}/auth/config`)
  if (!response.ok) throw new Error('no sign-in configuration')
  return (await response.json()) as AuthConfig
}

async function createPlatform(): Promise<Platform> {
  const config = await readConfig()
  const auth = await readAuth(config)
  const load = async () => (await import('./client/auth/provider.ts')).createProvider(auth, config.token)
  const signIn = await createSignIn(auth, load)
  const api = createApi({ base: config.api_url, tokens: signIn.tokens })
  return { config, auth, signIn, settings: loadSettings(), api }
}

const createClient = (platform: Platform) => {
  const client = new QueryClient({
    defaultOptions: {
      queries: {
        staleTime: 5_000,
        // A refusal is final; the banner shows a network fault, and the request is retried.
        retry: (count, error) => !(error instanceof ApiError && error.status < 500) && count < 2,
        networkMode: 'always',
      },
      mutations: { networkMode: 'always' },
    },
  })
  const { connection } = platform.api
  connection.subscribe(() => connection.get().online && void client.invalidateQueries())
  return client
}

const SESSION = /^\/console\/sessions\/([0-9a-f-]{36})(?:\/([\w-]*)|$)/
/** The parts of a session that show the plan of its newest round. */
const WITH_PLAN = new Set(['review', 'graph', 'seal'])

/** Prefetches the data of the first screen while its script is loading. */
async function askAhead(platform: Platform, client: QueryClient): Promise<void> {
  const { api, signIn } = platform
  if (!['open', 'in'].includes(signIn.state.get())) return
  void client.prefetchQuery(meQuery(api))
  const [, id, part = ''] = SESSION.exec(location.pathname) ?? []
  if (!id) return
  await client.prefetchQuery(sessionQuery(api, client, id))
  const read = client.getQueryData<ReadSession>(sessionKey(id))
  if (read && WITH_PLAN.has(part)) askForPlan(platform, client, read.session)
}

async function start(): Promise<void> {
  const page = document.getElementById('app') as HTMLElement
  let platform: Platform
  try {
    platform = await createPlatform()
  } catch {
    return render(<Unavailable />, page)
  }
  const client = createClient(platform)
  void askAhead(platform, client)
  // Loads the route while the answers are on their way. The router shows a failure later.
  router.load().catch(() => {})
  page.replaceChildren()
  render(
    <PlatformProvider value={platform}>
      <ClockContext.Provider value={platform.api.now}>
        <QueryClientProvider client={client}>
          <SignInGate>
            <RouterProvider router={router} />
          </SignInGate>
        </QueryClientProvider>
      </ClockContext.Provider>
    </PlatformProvider>,
    page,
  )
}

trustOwnScripts()
void start()

interface TrustedTypes {
  createPolicy(name: 'default', rules: { createScriptURL(url: string): string }): unknown
}

/** Restricts the page to scripts of its own build: browsers with trusted types refuse to turn text into a script. */
function trustOwnScripts(types = (globalThis as { trustedTypes?: TrustedTypes }).trustedTypes): void {
  types?.createPolicy('default', {
    createScriptURL: (given) => {
      const url = new URL(given, location.href)
      if (url.origin === location.origin && url.pathname.startsWith('/console/assets/')) return url.href
      throw new TypeError('This is no script of the console.')
    },
  })
}
