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
    holds: 'http, log, errors, text, json, time, masking, names that all share',
    imports: ['config'],
    node: false,
  },
  { name: 'src/data', holds: 'database, cache, queue, storage', imports: ['config', 'src/base'], node: false },
  { name: 'src/observe', holds: 'telemetry and metrics', imports: ['config', 'src/base', 'src/data'], node: false },
  {
    name: 'src/llm',
    holds: 'client of the model, router, wire forms, prices',
    imports: ['config', 'src/base', 'src/data', 'src/observe'],
    node: false,
  },
  {
    name: 'src/agent',
    holds: 'the loop between model and tools, and the context budget; knows no chain',
    imports: ['config', 'src/base', 'src/llm'],
    node: false,
  },
  {
    name: 'src/prompts',
    holds: 'registry, seed and fence of the prompts',
    imports: ['config', 'src/base', 'src/data'],
    node: false,
  },
  {
    name: 'src/access',
    holds: 'authentication, roles, users',
    imports: ['config', 'src/base', 'src/data', 'src/observe'],
    node: false,
  },
  {
    name: 'src/plan',
    holds: 'plan JSON, state, provider schema, diagnostics, import identifiers',
    imports: ['config', 'src/base'],
    node: false,
  },
  {
    name: 'src/services',
    holds: 'clients of the four sidecars and the verbs on them',
    imports: ['config', 'src/base', 'src/data', 'src/observe', 'src/access', 'src/plan'],
    node: false,
  },
  { name: 'src/rules', holds: 'what code checks in a plan', imports: ['config', 'src/base', 'src/plan'], node: false },
  {
    name: 'src/intent',
    holds: 'what the user asked for, as conditions on a plan',
    imports: ['config', 'src/base', 'src/plan', 'src/rules'],
    node: false,
  },
  {
    name: 'src/sessions',
    holds: 'lifecycle, lease, reading and lists; events, applies, pins',
    imports: ['config', 'src/base', 'src/data', 'src/observe', 'src/access', 'src/plan', 'src/services'],
    node: false,
  },
  {
    name: 'src/repository',
    holds: 'repositories: addresses, root modules, files',
    imports: ['config', 'src/base', 'src/data', 'src/sessions'],
    node: false,
  },
  {
    name: 'src/chains',
    holds: 'one file a chain: prompt layout, query, tools, result and what it means',
    imports: ['src/*', 'config'],
    node: false,
  },
  {
    name: 'src/reports',
    holds: 'how a report is settled, and artifacts',
    imports: ['config', 'src/base', 'src/data', 'src/plan', 'src/rules', 'src/intent', 'src/sessions', 'src/chains'],
    node: false,
  },
  {
    name: 'src/pull-requests',
    holds: 'hosts of pull requests and the text of one',
    imports: ['src/*', 'config'],
    node: false,
  },
  { name: 'src/context.ts', holds: 'everything a process was given, in one value', imports: ['src/*', 'config'], node: false },
  {
    name: 'src/runtime',
    holds: 'what needs a runtime: disk, name look-up, servers, building a context',
    imports: ['src/*', 'config'],
    node: true,
  },
  {
    name: 'routes',
    holds: 'one endpoint a file, folders as in the URL; `app.ts` is the table of contents',
    imports: ['config', 'src/*', '!src/runtime'],
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
    imports: ['config', 'src/*'],
    node: true,
  },
  {
    name: 'pipeline/kit',
    holds: 'what steps are made of: engine runs, masked and metered model, tools assembly',
    imports: ['config', 'src/*', '!src/runtime', 'pipeline/workspace'],
    node: false,
  },
  {
    name: 'pipeline/tools',
    holds: 'the tools that a model is offered',
    imports: ['config', 'src/*', '!src/runtime', 'pipeline/workspace', 'pipeline/kit'],
    node: false,
  },
  {
    name: 'pipeline/steps',
    holds: 'the steps of the modes',
    imports: ['config', 'src/*', '!src/runtime', 'pipeline/*'],
    node: false,
  },
  {
    name: 'pipeline/modes',
    holds: 'the modes; each reads like the specification',
    imports: ['config', 'src/*', '!src/runtime', 'pipeline/*'],
    node: false,
  },
  {
    name: 'pipeline',
    holds: 'the worker: takes a round, runs it, keeps its lease, saves its end',
    imports: ['config', 'src/*', 'pipeline/*'],
    node: false,
  },
  {
    name: 'sidecars/shared',
    holds: 'the frame of the four sidecars: boot, routes, settings, errors',
    imports: ['src/base', 'src/runtime'],
    node: false,
  },
  {
    name: 'sidecars/iac',
    holds: 'runs the engine, keeps state and plans, lists what is in a cloud',
    imports: ['config/sections/aws.ts', 'src/base', 'src/runtime', 'sidecars/shared'],
    node: true,
  },
  {
    name: 'sidecars/authz',
    holds: 'roles of users in a file',
    imports: ['src/base', 'sidecars/shared'],
    node: true,
  },
  {
    name: 'sidecars/mapping',
    holds: 'which repository belongs to a scope',
    imports: ['src/base', 'sidecars/shared'],
    node: true,
  },
  {
    name: 'sidecars/notifications',
    holds: 'messages by mail and web hook',
    imports: ['src/base', 'sidecars/shared'],
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
    imports: ['src/base'],
    node: true,
  },
  {
    name: 'dev',
    holds: 'the embedded stack, the demo, the checks of prompts and of this table',
    imports: ['*'],
    node: true,
  },
  { name: 'eval', holds: 'scenarios, pass rates, replay of recorded rounds', imports: ['*'], node: true },
  { name: 'test', holds: 'mirrors the code', imports: ['*'], node: true },
  { name: 'bench', holds: 'measurements against a bare baseline', imports: ['*'], node: true },
]
