import { beforeAll, describe, expect, it } from 'vitest'
import { createPullRequest } from '../../../../src/pull-requests/create.ts'
import { mergePullRequest } from '../../../../src/pull-requests/merge.ts'
import { startOnce } from '../../../helpers/start-once.ts'
import { scriptedLlm } from '../../../pipeline/steps/scripted-llm.ts'
import { trust } from '../../../repository/support.ts'
import { applyReports, applyRound, applyScripts } from '../../modes/apply-world.ts'
import { decompose, driftScripts, full, IN_SYNC } from '../../modes/drift-world.ts'
import { addresses, importReport, importRound, QUERY } from '../../modes/import-world.ts'
import { done, targets, write } from '../../modes/scripts.ts'
import { engineBeside, firstRound } from '../../modes/stack.ts'
import { type Json, until } from './cluster.ts'
import { AS_READ, access, bodies, custom, DEFINITION, deployment, imports, PATHS, service } from './workload-code.ts'
import { merge, nothingElse, PROVIDER, provider, startWorld } from './world.ts'

const world = startOnce(startWorld)
let repo_uri = ''
beforeAll(async () => {
  trust(world.git_host.caPem)
  repo_uri = await world.repository({ 'main.tf': PROVIDER })
})

const addressesIn = (code: string) =>
  [...code.matchAll(/^resource "(\w+)" "(\w+)"/gm)].map(([, type, name]) => `${type}.${name}`)

/** Generate, pull request, merge, apply; the report of the apply. */
async function deliver(file: string, code: string) {
  const context = world.context(
    scriptedLlm(
      applyScripts({
        task_complete: [write(file, code), done('Written.')],
        generate_engine_targets: targets(...addressesIn(code)),
        generate_pull_request: { args: { title: 'Add a service', description: 'For the team.' } },
        ...nothingElse,
      }),
    ),
  )
  const session = await firstRound(world, context, { repo_uri, provider, query: 'Add a service' })
  expect([session.failures, session.statuses.at(-1)]).toEqual([[], 'completed'])
  await createPullRequest(context, session.uuid)
  await mergePullRequest(context, session.uuid)
  expect(await world.git(repo_uri, 'show', `main:${file}`)).toBe(code)
  const applied = await applyRound(world, context, session.uuid)
  expect([applied.failures, applied.statuses.at(-1)]).toEqual([[], 'completed'])
  return (await applyReports(world, session.uuid)).at(-1)
}

describe('workloads', () => {
  it('are written, reviewed, merged and applied, with what they may do and a kind of their own', async () => {
    const report = await deliver('web.tf', deployment('web') + service('web') + access('web') + DEFINITION)
    expect(report).toMatchObject({ status: 'Success', summary: { created: 6, failed: 0 } })
    expect(await world.cluster.call('GET', `${PATHS.deployment}/web`)).toMatchObject({ spec: { replicas: 2 } })
    for (const path of [PATHS.service, PATHS.role, PATHS.binding]) await world.cluster.call('GET', `${path}/web`)
    // The controllers took it up.
    await until(() =>
      world.cluster
        .call('GET', `${PATHS.deployment}/web`)
        .then(({ status }) => expect(status).toMatchObject({ replicas: 2 })),
    )
  })

  it('are joined by an object of that kind', async () => {
    expect(await deliver('nightly.tf', custom('web'))).toMatchObject({ status: 'Success', summary: { created: 1 } })
    expect(await world.cluster.call('GET', `${PATHS.custom}/web`)).toMatchObject({ spec: { schedule: '0 2 * * *' } })
  })

  it('show no drift, although the controllers have written into them', async () => {
    const llm = scriptedLlm(driftScripts())
    const session = await firstRound(world, world.context(llm), { repo_uri, provider, ...full })
    expect([session.failures, session.statuses.at(-1)]).toEqual([[], 'completed'])
    expect(llm.of('task_complete')).toEqual([])
  })

  it('that others made by hand are imported beside them, and the plan is empty', async () => {
    const made = bodies('found')
    for (const [kind, path] of Object.entries(PATHS))
      await world.cluster.call('POST', path, made[kind as keyof typeof PATHS])
    const others = service('found') + access('found') + custom('found')
    const code = deployment('found') + others
    const llm = scriptedLlm(
      importRound({
        task_complete: [
          write('found.tf', code),
          done('Wrote six blocks.'),
          write('found.tf', deployment('found', AS_READ) + others),
          done('The pod as it is.'),
        ],
        generate_engine_targets: targets(...addressesIn(code)),
        import_addresses: addresses(...imports('found')),
        report_decomposed_task_operations: decompose(),
      }),
    )
    const request = { repo_uri, provider, mode: 'import', query: QUERY } as const
    const session = await firstRound(world, world.context(llm), request)
    expect([session.failures, session.statuses.at(-1)]).toEqual([[], 'completed'])
    expect(session.messages).toContain(IN_SYNC)
    const report = await importReport(world, session.uuid)
    expect(report).toMatchObject({ status: 'Succeeded', summary: { selected: 6, imported: 6, failed: 0 } })
    expect(report.state_alignment).toBe(
      'Aligned: a plan after the import changes none of the imported resources (6). The next apply writes settings ' +
        'of the provider into the state alone: kubernetes_manifest.found, kubernetes_service_v1.found.',
    )
    // And so it does: no object gets another version.
    const paths = Object.values(PATHS).map((path) => `${path}/found`)
    const versions = () =>
      Promise.all(
        paths.map(async (path) => {
          const { metadata } = await world.cluster.call<{ metadata: Json }>('GET', path)
          return metadata.generation ?? metadata.resourceVersion
        }),
      )
    const before = await versions()
    await merge(world, repo_uri, session.branch)
    await (await engineBeside(world, repo_uri, world.beside)).apply()
    expect(await versions()).toEqual(before)
  })
})
