import { useMutation, useQueryClient } from '@tanstack/preact-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'preact/hooks'
import { calls } from '../../client/api/calls.ts'
import { usePlatform } from '../../client/platform.ts'
import { type FieldName, type Fields, findMissing, idOf, readRefusal, toBody } from './form.ts'
import { modeOf } from './modes.ts'

const CALLS = { generate: calls.generate, drift: calls.drift, import: calls.importResources }
const KEY = ['request']

type Errors = Partial<Record<FieldName, { text: string; value: string }>>

/** Sends the form, once at a time; `done` runs when the typed text is no longer needed. */
export function useRequest(fields: Fields, done: () => void) {
  const { api } = usePlatform()
  const client = useQueryClient()
  const navigate = useNavigate()
  const [errors, setErrors] = useState<Errors>({})

  const refuse = (found: Partial<Record<FieldName, string>>, given: Fields) => {
    const entries = Object.entries(found) as [FieldName, string][]
    setErrors(Object.fromEntries(entries.map(([name, text]) => [name, { text, value: given[name] }])))
    const first = (['q', 'repo_uri', 'engine_providers', 'scope_id', 'iac_path'] as const).find((name) => found[name])
    if (first) document.getElementById(idOf(first))?.focus()
    return entries.length > 0
  }
  const request = useMutation({
    mutationKey: KEY,
    mutationFn: async (sent: Fields) => {
      const { session_id } = await CALLS[modeOf(sent.mode).operation](api, { body: toBody(sent) })
      void client.invalidateQueries({ queryKey: ['sessions'] })
      done()
      await navigate({ to: '/sessions/$sessionId', params: { sessionId: session_id } })
    },
    onError: (error, sent) => refuse(readRefusal(error).fields, sent),
  })
  const send = () => {
    // The state of the mutation changes only with the next drawing.
    if (client.isMutating({ mutationKey: KEY }) > 0) return
    request.reset()
    if (!refuse(findMissing(fields), fields)) request.mutate(fields)
  }
  /** Returns the error of a field while it has the refused value. */
  const errorOf = (name: FieldName) => (errors[name]?.value === fields[name] ? errors[name]?.text : undefined)
  const failure = request.error && readRefusal(request.error).rest ? request.error : null
  return { send, sending: request.isPending, failure, errorOf }
}
