/** A row of the table: a part of the code with a name, a purpose and a list of what it may import. */
export interface Room {
  /** Its folder or file from the root of the repository. A name that is no path needs `paths`. */
  name: string
  /** Folders and files that make the room, when they are not the name itself. */
  paths?: readonly string[]
  /** What it holds, in one line. */
  holds: string
  /**
   * What it may import beside itself:
   * - the name of a room that stands before it, `src/base`
   * - one file or folder of such a room, `src/runtime/serve.ts`
   * - `src/*`, every room of `src` that stands before it; `*`, every room that stands before it
   * - `!src/runtime`, a room that is taken out again
   */
  imports: readonly string[]
  /** Whether it may import `node:` modules. */
  node: boolean
}

/**
 * Every room from the ground up: a room imports only rooms that stand before it, so there can be no cycle.
 * A folder that has rooms inside, as `pipeline` does, keeps only the files directly in it. A file can be a room of
 * its own inside another room's folder.
 *
 * `npm run structure -- --write` carries a change of this table into the lint and into `AGENTS.md`.
 */
export const ROOMS: readonly Room[] = [
  { name: 'config', holds: 'shipped values, schema, loading, boot errors', imports: [], node: false },
  {
    name: 'src/base',
    holds: 'what all share: http, log, errors, JSON, text, masking, request signing, the words of the domain',
    imports: ['config'],
    node: false,
  },
  { name: 'src/data', holds: 'database, cache, queue, storage', imports: ['config', 'src/base'], node: false },
  {
    name: 'src/llm',
    holds: 'calls of a model: client, router, wire forms, prices',
    imports: ['config', 'src/base'],
    node: false,
  },
  {
    name: 'src/services',
    holds: 'clients of the sidecars, and the verbs on them',
    imports: ['config', 'src/base'],
    node: false,
  },
  { name: 'src/repository', holds: 'git addresses, root modules', imports: ['config', 'src/base'], node: false },
  {
    name: 'src/prompts',
    holds: 'registry, shipped texts and fence of the prompts',
    imports: ['src/base'],
    node: false,
  },
  {
    name: 'src/plan',
    holds: 'plan JSON and the plan as data, state, provider schema, diagnostics, import identifiers',
    imports: ['config', 'src/base', 'src/data', 'src/services'],
    node: false,
  },
  {
    name: 'src/observe',
    holds: 'traces and metrics',
    imports: ['config', 'src/base', 'src/data', 'src/llm', 'src/plan'],
    node: false,
  },
  {
    name: 'src/rules',
    holds: 'what code checks in a plan',
    imports: ['config', 'src/base', 'src/plan'],
    node: false,
  },
  {
    name: 'src/intent',
    holds: 'what a request asks for, as conditions on a plan',
    imports: ['src/base', 'src/plan', 'src/rules'],
    node: false,
  },
  {
    name: 'src/context.ts',
    holds: 'the clients of a process, in one value',
    imports: ['config', 'src/*', '!src/plan', '!src/rules', '!src/intent'],
    node: false,
  },
  {
    name: 'src/audit',
    holds: 'the record of who did what: writing, reading, keeping; counts of refused sign-ins',
    imports: ['src/base', 'src/data', 'src/context.ts'],
    node: false,
  },
  {
    name: 'src/access',
    holds: 'who may do what: tokens, roles, users',
    imports: ['config', 'src/base', 'src/data', 'src/services', 'src/context.ts', 'src/audit'],
    node: false,
  },
  {
    name: 'src/saved-plans',
    holds: 'the reviewed plan of a session for a later apply: record, encrypted copy, comparison with the present',
    imports: ['src/base', 'src/data', 'src/services', 'src/repository', 'src/plan', 'src/context.ts'],
    node: false,
  },
  {
    name: 'src/sessions',
    holds: 'lifecycle, lease, cancellation, reading and lists of sessions; their events, attempts and applies',
    imports: [
      'config',
      'src/base',
      'src/data',
      'src/services',
      'src/repository',
      'src/plan',
      'src/context.ts',
      'src/audit',
      'src/saved-plans',
    ],
    node: false,
  },
  {
    name: 'src/notifications',
    holds: 'who is told what, and when',
    imports: ['src/base', 'src/data', 'src/services', 'src/context.ts', 'src/access', 'src/sessions'],
    node: false,
  },
  {
    name: 'src/reports',
    holds: 'how code settles the report of each mode; artifacts',
    imports: ['src/base', 'src/data', 'src/plan', 'src/rules', 'src/intent', 'src/context.ts', 'src/sessions'],
    node: false,
  },
  {
    name: 'src/agent',
    holds: 'the loop between a model and its tools, and what fits its window; knows no chain',
    imports: ['config', 'src/base', 'src/llm', 'src/observe'],
    node: false,
  },
  {
    name: 'src/chains',
    holds: 'one file a chain: role, prompt layout, query, tools, result and what it means',
    imports: ['src/*', '!src/data', '!src/access', '!src/notifications'],
    node: false,
  },
  {
    name: 'src/pull-requests',
    holds: 'hosts of pull requests, and what one says',
    imports: ['config', 'src/*', '!src/access', '!src/notifications'],
    node: false,
  },
  {
    name: 'src/runtime',
    holds: 'what needs a runtime: disk, name look-up, servers, building a context',
    imports: ['config', 'src/*'],
    node: true,
  },
  {
    name: 'routes',
    holds: 'one endpoint a file, folders as in the URL; `app.ts` is the table of contents',
    imports: ['src/*', '!src/llm', '!src/agent', '!src/chains', '!src/runtime'],
    node: false,
  },
  {
    name: 'routes (entry)',
    paths: ['routes/main.ts', 'routes/start.ts'],
    holds: 'the process of the core',
    imports: ['config', 'src/*', 'routes'],
    node: true,
  },
  {
    name: 'pipeline/workspace',
    holds: 'git and disk of a run',
    imports: ['config', 'src/base', 'src/repository', 'src/plan', 'src/sessions', 'src/agent', 'src/runtime/fetch.ts'],
    node: true,
  },
  {
    name: 'pipeline/tools',
    holds: 'the tools that a model is offered',
    imports: ['src/base', 'src/llm', 'src/plan', 'src/agent', 'pipeline/workspace'],
    node: false,
  },
  {
    name: 'pipeline/kit',
    holds: 'what steps share: engine runs and their output, masked and metered model, attempts, assembly of tools',
    imports: ['config', 'src/*', '!src/access', '!src/runtime', 'pipeline/*'],
    node: false,
  },
  {
    name: 'pipeline/steps',
    holds: 'the steps of the modes',
    imports: ['src/*', '!src/access', '!src/runtime', 'pipeline/*'],
    node: false,
  },
  {
    name: 'pipeline/modes',
    holds: 'the modes; each reads like the specification',
    imports: ['src/*', '!src/access', '!src/runtime', 'pipeline/*'],
    node: false,
  },
  {
    name: 'pipeline',
    holds: 'takes a round, runs it, keeps its lease, saves its end',
    imports: ['src/*', '!src/access', '!src/runtime', 'pipeline/*'],
    node: false,
  },
  {
    name: 'pipeline (entry)',
    paths: ['pipeline/main.ts', 'pipeline/start.ts'],
    holds: 'the process of the worker',
    imports: ['config', 'src/*', 'pipeline/*', 'pipeline'],
    node: true,
  },
  {
    name: 'sidecars/shared',
    holds: 'the frame of the sidecars: start, routes, settings, errors',
    imports: [
      'src/base/http.ts',
      'src/base/limited-json.ts',
      'src/base/log.ts',
      'src/runtime/serve.ts',
      'src/runtime/stop-signals.ts',
    ],
    node: false,
  },
  {
    name: 'sidecars/iac',
    holds: 'runs the engine, keeps state and plans, lists what a cloud has',
    imports: [
      'config/sections/aws.ts',
      'src/base/aws',
      'src/base/http.ts',
      'src/base/log.ts',
      'src/runtime/https-exchange.ts',
      'sidecars/shared',
    ],
    node: true,
  },
  {
    name: 'sidecars/authz',
    holds: 'roles of users, in a file',
    imports: ['src/base/http.ts', 'src/base/log.ts', 'sidecars/shared'],
    node: true,
  },
  {
    name: 'sidecars/mapping',
    holds: 'which repository belongs to a scope, in a file',
    imports: ['src/base/http.ts', 'src/base/log.ts', 'sidecars/shared'],
    node: true,
  },
  {
    name: 'sidecars/notifications',
    holds: 'messages by mail, chat and web hook',
    imports: ['src/base/http.ts', 'src/base/log.ts', 'sidecars/shared'],
    node: false,
  },
  {
    name: 'sidecars',
    holds: 'the entry that starts one of them by its name',
    imports: ['sidecars/*'],
    node: true,
  },
  {
    name: 'contracts',
    holds: "the sidecars' contracts; `conformance/` proves an implementation over HTTP",
    imports: ['src/base/http.ts'],
    node: true,
  },
  {
    name: 'console/build',
    holds: 'builds the console; serves it while it is worked on',
    imports: ['src/runtime/console-files.ts'],
    node: true,
  },
  {
    name: 'console/api',
    holds: 'calls, streams and artifacts of the API as the browser has them; types from `routes`',
    imports: ['routes'],
    node: false,
  },
  { name: 'console/auth', holds: 'signing in by OpenID Connect', imports: ['console/api'], node: false },
  {
    name: 'console/data',
    holds: 'what screens read: sessions, events, artifacts, settings, drafts',
    imports: ['console/api', 'console/auth'],
    node: false,
  },
  {
    name: 'console/kit',
    holds: 'parts of pages: buttons, badges, dialogs, lists; formats of numbers and texts',
    imports: ['console/api'],
    node: false,
  },
  {
    name: 'console/workers',
    holds: 'work beside the page: the layout of graphs',
    imports: [],
    node: false,
  },
  {
    name: 'console/shell',
    holds: 'what stands around every screen: navigation, banners, errors',
    imports: ['console/api', 'console/auth', 'console/data', 'console/kit'],
    node: false,
  },
  {
    name: 'console/screens',
    holds: 'one folder a screen',
    imports: ['console/api', 'console/data', 'console/kit', 'console/shell', 'console/workers'],
    node: false,
  },
  {
    name: 'console',
    holds: 'the browser application: its entry and its table of contents, `routes.tsx`',
    imports: ['console/*'],
    node: false,
  },
  {
    name: 'dev',
    holds: 'the embedded stack, the demo, the checks of prompts and of this table',
    imports: ['*'],
    node: true,
  },
  { name: 'eval', holds: 'scenarios, pass rates, replay of recorded rounds', imports: ['*'], node: true },
  {
    name: 'test',
    holds: 'mirrors the code; `suites/` holds what mirrors no file',
    imports: ['*'],
    node: true,
  },
  { name: 'bench', holds: 'measurements against a bare baseline', imports: ['*'], node: true },
]
