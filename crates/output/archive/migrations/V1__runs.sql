CREATE TABLE run (
    id TEXT PRIMARY KEY,
    content TEXT NOT NULL,
    path TEXT NOT NULL,
    study TEXT NOT NULL,
    study_digest TEXT NOT NULL,
    setting TEXT NOT NULL,
    disklab TEXT NOT NULL,
    kernel TEXT NOT NULL,
    began TEXT NOT NULL,
    added TEXT NOT NULL,
    cells BIGINT NOT NULL,
    done BIGINT NOT NULL
);
CREATE INDEX run_began ON run (began);
CREATE TABLE stack (
    run TEXT NOT NULL REFERENCES run (id),
    stack TEXT NOT NULL,
    drives TEXT NOT NULL,
    PRIMARY KEY (run, stack)
);
CREATE TABLE figure (
    run TEXT NOT NULL REFERENCES run (id),
    stack TEXT NOT NULL,
    workload TEXT NOT NULL,
    levels TEXT NOT NULL,
    step TEXT NOT NULL,
    direction TEXT NOT NULL,
    part TEXT NOT NULL,
    measure TEXT NOT NULL,
    operation TEXT NOT NULL,
    value DOUBLE PRECISION NOT NULL,
    low DOUBLE PRECISION,
    high DOUBLE PRECISION,
    repeats BIGINT NOT NULL,
    suspect TEXT NOT NULL,
    PRIMARY KEY (run, stack, workload, levels, step, direction, part, measure)
);
CREATE INDEX figure_measure ON figure (measure, run);
