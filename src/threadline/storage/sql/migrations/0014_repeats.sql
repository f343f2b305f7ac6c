-- How often a reply was interrupted while it was sent, and which doubts are the platform's.

-- How often the sending process stopped since the platform last took a message of this delivery.
ALTER TABLE deliveries ADD COLUMN repeats INTEGER NOT NULL DEFAULT 0;

-- When the platform did not answer an attempt to send. `repeated_at` also covers crashes.
ALTER TABLE deliveries ADD COLUMN unheard_at INTEGER;
UPDATE deliveries SET unheard_at = repeated_at WHERE state = 'pending' AND attempts > 0;
