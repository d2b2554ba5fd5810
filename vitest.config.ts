import { configDefaults, defineConfig, type TestProjectInlineConfiguration } from 'vitest/config'
import { RepeatedTests } from './test/helpers/repeated-tests.ts'
import { AttackOutcomes } from './test/suites/security/outcomes.ts'

const { CI = '', REDIS_INSTALLATION, AZURITE, CHART_TOOLS, WORLD_PART } = process.env
const IN_CI = CI !== '' && CI !== 'false'

/** Rounds that `npm test` runs as well, because they show soonest that the parts fit. Imports take longest. */
const ROUNDS = 'test/suites/modes/{apply,drift,generate}.test.ts'

/**
 * A set of files that `--project <name>` selects. Every test file belongs to exactly one project, so a bare
 * `npx vitest run <path>` runs it once.
 * @param group Projects of one group run side by side, groups one after the other. Vitest demands the same
 * number of workers within a group.
 */
function project(name: string, group: number, maxWorkers: number, test: TestProjectInlineConfiguration['test']) {
  return { test: { name, sequence: { groupOrder: group }, maxWorkers, ...test } }
}

const suites = [
  project('rounds', 0, 3, { include: [ROUNDS] }),
  /**
   * Rounds of every mode on the real engine: the unhappy paths, hostile models, interruptions. Their engines run without
   * a sandbox, which takes a third of the time of a command; `rounds`, `security` and the demo run theirs inside.
   */
  project('modes', 0, 3, {
    include: ['test/suites/modes/*.test.ts'],
    exclude: [ROUNDS],
    env: { NODE_ENV: 'test', IAC_SANDBOX: 'none' },
  }),
  /** The embedded stack as a user starts it, workers and databases that die, sidecars with planted defects. */
  project('processes', 1, 2, {
    include: ['test/suites/processes/*.test.ts', 'test/contracts/**/*.test.ts'],
    testTimeout: 120_000,
  }),
  /** Core and worker as processes between fakes that know the contract alone. */
  project('contract', 1, 2, { include: ['test/suites/contract/*.test.ts'] }),
  /** Attacks of hostile repositories, models, engine runs and callers, each carried out against the running code. */
  project('security', 1, 2, { include: ['test/suites/security/*.test.ts'] }),
  /** Real processes that are killed in the middle of their work. */
  project('chaos', 2, 1, { include: ['test/suites/chaos/*.test.ts'], testTimeout: 120_000 }),
  /**
   * Generated inputs against every route. `PROPERTY_SEED` repeats a run, `PROPERTY_SECONDS` is the time that all
   * properties share. There is no second try, because a second try with other inputs would hide what the first found.
   */
  project('property', 2, 1, { include: ['test/suites/property/*.test.ts'], testTimeout: 120_000, retry: 0 }),
]
const projects = [
  /** Tests that mirror the code: whatever no suite takes, so that no file is left out. */
  project('code', 0, 3, { include: ['test/**/*.test.ts'], exclude: suites.flatMap(({ test }) => test.include ?? []) }),
  ...suites,
]
// These two need a server that `npm run test:redis` and `npm run test:azurite` start before the tests.
if (REDIS_INSTALLATION) projects.push(project('redis', 1, 2, { include: ['test/suites/redis/*.redis.ts'] }))
if (AZURITE)
  projects.push(
    project('azurite', 2, 1, {
      include: ['test/suites/azurite/*.azurite.ts'],
      provide: { azurite: JSON.parse(AZURITE) },
    }),
  )
// What it needs is built by `npm run test:chart` before the tests.
if (CHART_TOOLS) projects.push(project('chart', 1, 2, { include: ['test/suites/chart/*.chart.ts'] }))

// The checks of one part of `npm run world`, which installs and starts its counterpart before.
if (WORLD_PART)
  projects.push(
    project('world', 2, 1, {
      include: [`test/suites/world/${WORLD_PART}/*.world.ts`],
      testTimeout: 300_000,
      hookTimeout: 300_000,
      retry: 0,
    }),
  )

export default defineConfig({
  test: {
    globalSetup: ['test/helpers/global-setup.ts'],
    pool: 'forks',
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // On a developer's machine a test that fails is seen at once. Continuous integration repeats it once, so that a
    // single late answer of a loaded machine stops nobody, and the run ends with the names of the repeated tests.
    retry: IN_CI ? 1 : 0,
    reporters: [...configDefaults.reporters, new RepeatedTests(), new AttackOutcomes()],
    // A test must not depend on the operator's shell.
    env: { NODE_ENV: 'test' },
    projects,
  },
})
