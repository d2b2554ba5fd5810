/** Objects that exist, so that generated requests name them. */
export interface Known {
  sessions?: string[]
  users?: number[]
  workspaces?: string[]
}

/** The parameters that get known values, by kind, and how often. */
const PLACES: Record<keyof Known, [string, number][]> = {
  sessions: [
    ['path.session_id', 0.8],
    ['query.id', 0.8],
    ['query.session_id', 0.5],
  ],
  users: [['path.user_id', 0.7]],
  workspaces: [['body.workspace_path', 0.8]],
}

/** Operations that go on with a session and take nothing else. In others the key excludes further ones. */
const CONTINUING = ['postApply', 'postCancel', 'postVerifySeal', 'putPullRequest', 'putMerge']

/** Answers that are right at these operations although the tool cannot know it. */
const EXPECTED: { why: string; operations: string[]; check: string; statuses: (number | string)[] }[] = [
  {
    why: 'a body that is too large is refused before it is read, whatever else is wrong with it',
    operations: ['fmt', 'plan'],
    check: 'negative_data_rejection',
    statuses: [400, 401, 403, 404, 405, 406, 409, 413, 415, 422, '5xx'],
  },
  {
    why: 'a repository that does not exist is refused with 400',
    operations: ['postGenerate', 'postDrift', 'postParse'],
    check: 'positive_data_acceptance',
    statuses: ['2xx', 400, 401, 403, 404, 409],
  },
  {
    why: 'the same, and resources that no preview has listed are refused with 422, like a partial import of blanks',
    operations: ['postImport'],
    check: 'positive_data_acceptance',
    statuses: ['2xx', 400, 401, 403, 404, 409, 422],
  },
  {
    why: 'the git host refuses a pull request of a branch that was never pushed, with its own status',
    operations: ['putPullRequest', 'putMerge'],
    check: 'positive_data_acceptance',
    statuses: ['2xx', 400, 401, 403, 404, 405, 409, 422],
  },
  {
    why: 'the texts have no bounds here (the contract), and the sidecar refuses what is too long or empty for it',
    operations: ['postAuthorize'],
    check: 'not_a_server_error',
    statuses: ['2xx', '4xx', 502],
  },
]

/** The configuration of a run. */
export function configOf(known: Known, operations: readonly string[]): string {
  const kinds = Object.entries(known) as [keyof Known, (string | number)[]][]
  const exceptions = EXPECTED.flatMap((one) => {
    const here = one.operations.filter((name) => operations.includes(name))
    return here.length === 0 ? [] : [{ ...one, operations: here }]
  })
  return [
    // A stream of events goes on; its first is enough to see what it is.
    'max-stream-events = 1',
    'request-timeout = 30',
    ...kinds.map(([kind, values]) => `[dictionaries.${kind}]\nvalues = ${JSON.stringify(values)}`),
    '[parameters]',
    ...kinds.flatMap(([kind]) =>
      PLACES[kind].map(
        ([place, probability]) => `${JSON.stringify(place)} = { dictionary = "${kind}", probability = ${probability} }`,
      ),
    ),
    ...(known.sessions && operations.includes('postApply')
      ? [
          `[[operations]]\ninclude-operation-id = ${JSON.stringify(CONTINUING)}\n` +
            'parameters = { "body.session_id" = { dictionary = "sessions", probability = 0.8 } }',
        ]
      : []),
    ...exceptions.map(
      ({ why, operations: names, check, statuses }) =>
        `# ${why}\n[[operations]]\ninclude-operation-id = ${JSON.stringify(names)}\n` +
        `checks.${check} = { expected-statuses = ${JSON.stringify(statuses)} }`,
    ),
    '',
  ].join('\n')
}
