import type { ReactNode } from 'react';
export function NewRunScreen(): ReactNode { return null; }
