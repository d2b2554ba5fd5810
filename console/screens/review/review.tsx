import { Page } from '../../kit/page.tsx'

export const Screen = () => <Page title="review">…</Page>
