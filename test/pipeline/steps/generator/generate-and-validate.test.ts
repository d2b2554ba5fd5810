import { describe, expect, it } from 'vitest'
import { type GenerationTask, generateAndValidate } from '../../../../pipeline/steps/generator/generate-and-validate.ts'
import { type Validation, ValidationLoopExceeded } from '../../../../pipeline/steps/generator/validation.ts'
import { MASK } from '../../../../src/base/masking.ts'
import { parsePlan } from '../../../../src/plan/plan.ts'
import { useFolder } from '../../../helpers/folder.ts'
import { startOnce } from '../../../helpers/start-once.ts'
import { changesJson } from '../../../plan/fixtures.ts'
import { said } from '../scripted-llm.ts'
import { createSteps, type StepWorld } from '../support.ts'

const steps = startOnce(createSteps)
const folder = useFolder()

const done = (summary: string) => ({ args: { status: 'done', summary } })
const scripts = { task_complete: [done('First.'), done('Second.'), done('Third.')] }

const task = (
  validations: Validation<string>[],
  changes: Partial<GenerationTask<string>> = {},
): GenerationTask<string> => {
  let attempt = 0
  return {
    query: 'Add a bucket',
    prompt: 'Please: Add a bucket',
    operation: 'generate',
    conventions: { templates: ['TEMPLATE BODY'], abbreviations: ['bucket: bkt'] },
    forbid: true,
    maxAttempts: 3,
    validate: async () => {
      const validation = validations[attempt++]
      if (!validation) throw new Error('validated too often')
      return validation
    },
    ...changes,
  }
}
const bad = (feedback: string, text = ''): Validation<string> => ({ ok: false, text, targets: ['a.b'], feedback })
const good = (text = 'plan text'): Validation<string> => ({ ok: true, text, targets: ['a.b'], value: 'the plan' })
const plans = ({ objects }: StepWorld) =>
  [...objects].filter(([key]) => key.startsWith('plans/')).map(([, { body }]) => body)

describe('generateAndValidate', () => {
  it('repairs with the feedback of the validator and leaves the conversation to the mode', async () => {
    const world = await steps.world({ scripts })
    const turn = { user: 'before', assistant: 'earlier' }
    for (const turns of [world.run.round.history, world.run.conversation]) turns.push(turn)
    const value = await generateAndValidate(world.kit, task([bad('Error: no such argument', 'half'), good()]))
    await world.kit.status.settle()
    expect(value).toBe('the plan')
    expect(world.run.conversation).toEqual([{ user: 'before', assistant: 'earlier' }])
    expect(world.run.result.summary).toBe('First.')
    const shown = (await world.statuses()).map(([status]) => status)
    expect(shown).toEqual(['generating', 'validating', 'generating', 'validating'])
    expect(plans(world)).toEqual(['half', 'plan text'])
    expect(world.workspace.commits).toBe(2)
    expect(world.run.meter.usage().validation_attempts).toBe(2)
  })

  it('tells the generator the conversation, its own attempts and the feedback as data', async () => {
    const world = await steps.world({ scripts })
    const turn = { user: 'before', assistant: 'earlier' }
    for (const turns of [world.run.round.history, world.run.conversation]) turns.push(turn)
    await generateAndValidate(world.kit, task([bad('Error: no such argument'), good()]))
    const [first, second] = world.llm.of('task_complete')
    expect(first?.role).toBe('main')
    expect(first?.messages.map(({ role }) => role)).toEqual(['system', 'user', 'assistant', 'user'])
    expect(first?.messages[1]?.content).toMatch(/^<<<DATA earlier request (\w+)\nbefore\n\1 DATA>>>$/)
    expect(first?.messages.at(-1)?.content).toBe('Please: Add a bucket')
    expect(second?.messages.slice(0, first?.messages.length)).toEqual(first?.messages)
    const added = second?.messages.slice(first?.messages.length).map(({ role }) => role)
    expect(added).toEqual(['assistant', 'tool', 'assistant', 'user'])
    expect(second?.messages.at(-2)?.content).toBe('First.')
    expect(second?.messages.at(-1)?.content).toMatch(
      /<<<DATA output of the validation (\w+)\nError: no such argument\n\1 DATA>>>/,
    )
    expect(second?.tools).toEqual(first?.tools)
    expect(first?.tools?.map(({ name }) => name)).toEqual([
      'read_file',
      'list_dir',
      'bulk_grep_search',
      'diff_history',
      'web_search',
      'write_to_file',
      'replace_in_file',
      'delete_file',
      'resource_schema',
      'task_complete',
    ])
  })

  it('renders conventions and guidelines; forbidden actions in generate rounds only', async () => {
    const world = await steps.world({ scripts })
    await generateAndValidate(world.kit, task([good()]))
    await generateAndValidate(world.kit, task([good()], { forbid: false, operation: 'drift' }))
    const [generate, drift] = world.llm.of('task_complete').map(said)
    const guidelines = ['general-guidelines-engine', 'aws-guidelines-networking', 'aws-guidelines-forbidden_actions']
    for (const part of ['TEMPLATE BODY', 'bucket: bkt', ...guidelines.map((name) => `body of ${name}`)])
      expect(generate).toContain(part)
    expect(drift).not.toContain('body of aws-guidelines-forbidden_actions')
  })

  it('gives up after the last attempt, with what was said about it', async () => {
    const world = await steps.world({ scripts })
    const all = [bad('one'), bad('two'), bad('three')]
    const error = await generateAndValidate(world.kit, task(all)).catch((reason: unknown) => reason)
    expect(error).toBeInstanceOf(ValidationLoopExceeded)
    expect(error).toMatchObject({ status: 422, message: 'Validation loop exceeded.', last: { feedback: 'three' } })
    expect(world.run.conversation).toEqual([])
    expect(world.workspace.commits).toBe(3)
  })

  const broken = (step: 'validate' | 'plan', feedback: string): Validation<string> => ({
    ...{ ok: false, text: '', targets: [], feedback, step },
  })
  const endless = { task_complete: Array.from({ length: 9 }, (_, index) => done(`Answer ${index}.`)) }

  it('ends early at the third failure of the same kind, and says what was tried', async () => {
    const world = await steps.world({ scripts: endless })
    world.workspace.pendingChanges = async () => [{ path: 'a.tf', new_file: true, content: 'x' }]
    const odd = 'Error: Unsupported argument\n\n  on a.tf line 3:\n'
    const validations = [broken('validate', odd), broken('plan', 'Error: Other'), broken('validate', odd)]
    const error = await generateAndValidate(
      world.kit,
      task([...validations, broken('validate', odd.replace('3', '9'))], { maxAttempts: 9 }),
    ).catch((reason: unknown) => reason)
    expect(error).toMatchObject({ message: 'Validation loop exceeded.' })
    expect(world.run.meter.usage().validation_attempts).toBe(4)
    const messages = (await world.statuses()).map(([, message]) => message)
    expect(messages.filter((message) => message?.startsWith('Attempt '))).toEqual([
      'Attempt 2 of 9: attempt 1 failed at validate: Unsupported argument.',
      'Attempt 3 of 9: attempt 2 failed at plan: Other.',
      'Attempt 4 of 9: attempt 3 failed at validate: Unsupported argument.',
    ])
    expect(world.llm.of('status')).toHaveLength(1)
    expect(messages.at(-1)).toBe(
      'The same failure came 3 times, so that no further attempt is made. What was tried: attempt 1 failed at ' +
        'validate: Unsupported argument; attempt 2 failed at plan: Other; attempt 3 failed at validate: Unsupported ' +
        'argument; attempt 4 failed at validate: Unsupported argument.',
    )
  })

  it('ends with the words of the author when an attempt leaves refused code as it is', async () => {
    const world = await steps.world({ scripts: endless })
    const odd = 'Error: Unsupported argument\n\n  on a.tf line 3:\n'
    const validations = [broken('validate', odd), broken('plan', 'Error: Other'), broken('plan', 'Error: Other')]
    await expect(generateAndValidate(world.kit, task(validations, { maxAttempts: 3 }))).rejects.toMatchObject({
      code: 'CodeLeftUnchanged',
      isOlder: false,
      message:
        'Nothing was planned: the engine does not accept the code because of errors (Other), and the last attempt ' +
        'changed nothing. Answer 2.',
    })
  })

  it('puts the code back when a step of the engine that had passed fails twice in a row', async () => {
    const world = await steps.world({ scripts: endless })
    const restored: string[] = []
    world.workspace.restore = async (commit) => void restored.push(commit)
    const validations = [broken('plan', 'Error: One'), broken('validate', 'Error: Two'), broken('validate', 'Error: 3')]
    await generateAndValidate(world.kit, task([...validations, good()], { maxAttempts: 9 }))
    expect(restored).toEqual(['commit-1'])
    const queries = world.llm.of('task_complete').map(({ messages }) => String(messages.at(-1)?.content))
    expect(queries.map((query) => query.includes('was not taken'))).toEqual([false, false, true, true])
    expect(queries[2]).toContain('Its code stands')
    expect(queries[3]).toContain('The files are again as attempt 1 left them')
  })

  it('makes a single attempt when there is only one', async () => {
    const world = await steps.world({ scripts })
    const single = generateAndValidate(world.kit, task([bad('one')], { maxAttempts: 1 }))
    await expect(single).rejects.toThrow('Validation loop exceeded.')
  })

  it('uploads every changed file before the commit, without sensitive values', async () => {
    const world = await steps.world({ scripts })
    await world.kit.secrets.learn(parsePlan(changesJson))
    const paths = Array.from({ length: 20 }, (_, index) => `dir/f${index}.tf`)
    world.workspace.changes = [
      { path: 'main.tf', new_file: false, content: '-a\n+password = "S3cret-Passw0rd!"' },
      ...paths.map((path) => ({ path, new_file: true, content: `file ${path}` })),
    ]
    await generateAndValidate(world.kit, task([good('')]))
    const stored = [...world.objects].filter(([key]) => key.startsWith('changes/'))
    expect(stored).toHaveLength(21)
    expect(stored.find(([key]) => key.endsWith('-main.tf'))?.[1]).toEqual({
      body: `-a\n+password = "${MASK}"`,
      metadata: { new_file: 'false' },
    })
    const rows = await steps.database.sql`SELECT file_name FROM code_changes WHERE round_id = ${world.run.round.id}`
    expect(rows.map(({ file_name }) => file_name)).toContain('dir/f19.tf')
    expect(plans(world)).toEqual([])
  })

  it('pushes nothing when a file cannot be stored', async () => {
    const world = await steps.world({ scripts })
    world.workspace.changes = [{ path: 'main.tf', new_file: true, content: 'x' }]
    world.run.context.storage.put = async () => {
      throw new Error('store down')
    }
    await expect(generateAndValidate(world.kit, task([good()]))).rejects.toThrow('store down')
    expect(world.workspace.commits).toBe(0)
  })

  it('validates while the commit is pushed, and counts nothing before the push has succeeded', async () => {
    const world = await steps.world({ scripts })
    const validated = Promise.withResolvers<void>()
    world.workspace.commitAndPush = async (onCommitted) => {
      onCommitted?.('commit-1')
      await validated.promise
      throw new Error('the branch is protected')
    }
    const validate = async () => {
      validated.resolve()
      return good()
    }
    await expect(generateAndValidate(world.kit, task([], { validate }))).rejects.toThrow('the branch is protected')
    expect(plans(world)).toEqual([])
  })

  it('waits for the push when the validation fails, whose process works in the clone', async () => {
    const world = await steps.world({ scripts })
    const order: string[] = []
    const failing = Promise.withResolvers<void>()
    world.workspace.commitAndPush = async (onCommitted) => {
      onCommitted?.('commit-1')
      await failing.promise
      order.push('pushed')
      return 'commit-1'
    }
    const validate = async () => {
      failing.resolve()
      throw new Error('the iac service is away')
    }
    await expect(generateAndValidate(world.kit, task([], { validate }))).rejects.toThrow('is away')
    expect(order).toEqual(['pushed'])
  })

  it('pushes before an import is validated, which writes the state', async () => {
    const world = await steps.world({ scripts })
    const order: string[] = []
    world.workspace.commitAndPush = async (onCommitted) => {
      onCommitted?.('commit-1')
      await new Promise((resolve) => setImmediate(resolve))
      order.push('pushed')
      return 'commit-1'
    }
    const validate = async () => {
      order.push('validated')
      return good()
    }
    await generateAndValidate(world.kit, task([], { operation: 'import', validate }))
    expect(order).toEqual(['pushed', 'validated'])
  })

  it('keeps hidden values out of the result', async () => {
    const world = await steps.world({ scripts: { task_complete: done('Uses tok-ABCDEF-123456.') } })
    await world.kit.secrets.learn(parsePlan(changesJson))
    await generateAndValidate(world.kit, task([good()]))
    expect(world.run.result.summary).toBe(`Uses ${MASK}.`)
  })

  it('composes the result of the last answer that changed files, and names the files by code', async () => {
    const answers = [
      { summary: 'Added a queue with an alarm in queue.tf.', assumptions: ['Messages are kept for 4 days.'] },
      { summary: 'Corrected the name of an attribute.', assumptions: ['No encryption.'] },
      { summary: 'The files are unchanged and right.', left_out: 'The topic' },
    ]
    const world = await steps.world({
      scripts: { task_complete: answers.map((answer) => ({ args: { status: 'done', ...answer } })) },
    })
    const file = { path: 'queue.tf', new_file: false, content: 'x' }
    const writing = [[file, { ...file, path: 'back.tf' }], [file, { ...file, path: 'back.tf' }], []]
    world.workspace.pendingChanges = async () => writing.shift() ?? []
    // The second attempt puts back what the first did to one of the files.
    world.workspace.runChanges = async () => (writing.length > 1 ? [file, { ...file, path: 'back.tf' }] : [file])
    await generateAndValidate(world.kit, task([bad('one'), bad('two'), good()]))
    expect(world.run.result).toMatchObject({
      summary: 'Corrected the name of an attribute.',
      assumptions: ['No encryption.'],
      gaps: ['Left out: The topic.'],
      repairs: [
        'Changed in all: queue.tf.',
        'Attempt 1 was valid, but not what was asked for: one; attempt 2 changed queue.tf, back.tf.',
      ],
    })
  })

  it('counts the attempts, and says when the findings are the same as before', async () => {
    const world = await steps.world({ scripts })
    const validations = [bad('a.tf:1: one'), bad('a.tf:7: one'), bad('a.tf:7: two'), good()]
    await generateAndValidate(world.kit, task(validations, { maxAttempts: 4 }))
    const queries = world.llm.of('task_complete').map(({ messages }) => String(messages.at(-1)?.content))
    expect(queries.map((query) => query.split(' The validation')[0])).toEqual([
      'Please: Add a bucket',
      'This is attempt 2 of 4.',
      'These findings are the same as before: the last attempt changed nothing of their cause. This is attempt 3 of 4.',
      'This is attempt 4 of 4.',
    ])
  })

  it('shows the generator what the session changed before, once', async () => {
    const world = await steps.world({ scripts })
    world.workspace.branchDiff = async () => [{ path: 'a.tf', change: 'changed', text: '+earlier "change"' }]
    await generateAndValidate(world.kit, task([bad('one'), good()]))
    const [first, second] = world.llm.of('task_complete')
    expect(first?.messages.at(-1)?.content).toMatch(
      /<<<DATA changes of this session (\w+)\n--- a\.tf \(changed\) ---\n\+earlier "change"\n\1 DATA>>>/,
    )
    expect(said(second).split('changes of this session')).toHaveLength(2)
    const fresh = await steps.world({ scripts })
    await generateAndValidate(fresh.kit, task([good()]))
    expect(said(fresh.llm.of('task_complete')[0])).not.toContain('changes of this session')
  })

  it('may make a call again after its files were published, and not after an attempt that changed none', async () => {
    const read = { calls: [['list_dir', { relative_workspace_path: '.' }]] as [string, Record<string, unknown>][] }
    const attempt = [read, done('Done.')]
    const world = await steps.world({ scripts: { task_complete: [...attempt, ...attempt, ...attempt] } })
    const writing = [[{ path: 'a.tf', new_file: true, content: 'x' }], [], []]
    world.workspace.pendingChanges = async () => writing.shift() ?? []
    Object.assign(world.workspace, { iacRoot: folder.path, clone: folder.path })
    await generateAndValidate(world.kit, task([bad('one'), bad('two'), good()]))
    const answers = world.llm
      .of('task_complete')
      .at(-1)
      ?.messages.filter(({ role, content }) => role === 'tool' && !content?.startsWith('Received'))
      .map(({ content }) => content?.slice(0, 13))
    expect(answers?.slice(1)).toEqual([answers?.[0], 'Not run again'])
  })

  it('refuses to write a file with the mask in it', async () => {
    const world = await steps.world({
      scripts: {
        task_complete: [
          { calls: [['write_to_file', { target_file: 'main.tf', content: `password = "${MASK}"` }]] },
          (request) => ({ args: { status: 'done', summary: String(request.messages.at(-1)?.content) } }),
        ],
      },
    })
    await generateAndValidate(world.kit, task([good()]))
    expect(world.run.result.summary).toContain('stands for a value that is hidden')
  })
})
