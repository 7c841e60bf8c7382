import type { ReactNode } from 'react';
export function RunScreen(_p: { id: string }): ReactNode { return null; }
