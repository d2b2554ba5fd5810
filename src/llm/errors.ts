import { PlatformError } from '../base/errors.ts'

const MAX_REASON = 1000

/**
 * @param status the provider's, else 502
 * @param secrets literal values that must not show
 */
export const inferenceError = (
  model: string,
  reason: string,
  status: number,
  secrets: readonly string[],
  cause?: unknown,
) =>
  new PlatformError('InferenceCallAPIError', status, `Inference call to ${model} failed: ${redact(reason, secrets)}`, {
    cause,
  })

/** A call that the platform itself composed wrongly. */
export const badInference = (message: string) => new PlatformError('InferenceCallAPIError', 400, message)

/** One line of at most 1000 characters without key material, be it ours or half masked by the provider. */
export function redact(text: string, secrets: readonly string[]): string {
  let clean = text
  for (const secret of secrets) if (secret.length >= 4) clean = clean.replaceAll(secret, '***')
  return clean
    .replaceAll(/\bBearer\s+[\w.~+/=-]+/gi, 'Bearer ***')
    .replaceAll(/\b(?:sk|pk|rk|gsk|xai|pplx|fw|nvapi)-[\w*.-]*[\w*-]/g, '***')
    .replaceAll(/\b(?:AIza[\w-]{10,}|gsk_\w{8,}|hf_\w{8,}|ya29\.[\w.-]+|(?:AKIA|ASIA)[A-Z0-9]{12,})/g, '***')
    .replaceAll(/[\w-]*\*{4,}[\w*-]*/g, '***')
    .replaceAll(/\s+/g, ' ')
    .trim()
    .slice(0, MAX_REASON)
}
