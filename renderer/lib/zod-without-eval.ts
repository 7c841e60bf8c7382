import { z } from 'zod';

// Must be the page's first import: zod probes `new Function` while schemas are built, which the page's CSP forbids.
z.config({ jitless: true });
