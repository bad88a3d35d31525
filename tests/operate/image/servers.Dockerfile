# PostgreSQL (of the image below), Redis and Kafka for the tests in a cluster; the build's context is the folder of Kafka's jars.
ARG ALL_IMAGE
FROM ${ALL_IMAGE}
USER 0:0
RUN apt-get update && \
    apt-get install --yes --no-install-recommends redis-server default-jre-headless && \
    rm -rf /var/lib/apt/lists/*
COPY *.jar /opt/kafka/
USER 10001:10001
