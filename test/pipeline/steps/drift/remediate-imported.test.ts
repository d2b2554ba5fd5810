import { describe, expect, it } from 'vitest'
import { remediateDrift } from '../../../../pipeline/steps/drift/remediate-drift.ts'
import { startOnce } from '../../../helpers/start-once.ts'
import { said } from '../scripted-llm.ts'
import { calmEngine, createSteps, validPlan } from '../support.ts'

const steps = startOnce(createSteps)

const SPLIT = 'report_decomposed_task_operations'
const operations = (...list: string[]) => ({ args: { operations: list, explanation: '' } })
const changed = (address: string) => ({ address, actions: ['update'], before: { size: 1 }, after: { size: 2 } })

describe('drift after an import', () => {
  it('of what was imported is genuine; the rest passes the filter of the session’s own changes', async () => {
    const world = await steps.world({
      scripts: {
        [SPLIT]: [
          operations('change a.imported'),
          operations('change a.written'),
          operations(),
          operations('change a.imported'),
        ],
        task_complete: { args: { status: 'done', summary: 'Mended.' } },
      },
      engine: calmEngine(),
    })
    await remediateDrift(world.kit, {
      valid: validPlan(world, [changed('a.imported'), changed('a.written')]),
      targets: [],
      filterSessionChanges: true,
      imported: new Set(['a.imported']),
      conventions: { templates: [], abbreviations: [] },
      maxIterations: 1,
    })
    const asked = world.llm.of(SPLIT).map((request) => ({ role: request.role, text: said(request) }))
    expect(asked.map(({ role }) => role)).toEqual(['main', 'main', 'small', 'small'])
    const [imported, written, filter, exceptions] = asked.map(({ text }) => text)
    expect(imported).toContain('a.imported')
    expect(imported).not.toContain('a.written')
    expect(written).not.toContain('a.imported')
    expect(filter).not.toContain('a.imported')
    expect(exceptions).not.toContain('a.written')
    expect(world.llm.of('task_complete')[0]?.messages.at(-1)?.content).toContain('\n- change a.imported\n')
  })
})
