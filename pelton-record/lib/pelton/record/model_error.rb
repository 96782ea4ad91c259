# frozen_string_literal: true

module Pelton
  module Record
    # The base class of errors that models raise. The database's errors are Sequel's, such as Sequel::UniqueConstraintViolation.
    #
    # If a client's request is the cause, `web_status` is the status for a web framework, such as Pelton::Web.
    class Error < Pelton::Error
    end

    # Raised by `find`, `find_by!`, `first!` and so on if no row matches.
    class NotFound < Error
      # @return [Class, nil] the model
      attr_reader :model

      # @return [Integer]
      def web_status = 404

      # @param message [String]
      # @param model [Class, nil]
      def initialize(message = nil, model: nil)
        super(message)
        @model = model
      end
    end

    # Raised if an object cannot be written: a callback threw :abort, or the object is not in the database.
    class NotSaved < Error
      # @return [Model, nil]
      attr_reader :record

      # @param record [Model, nil]
      # @param message [String]
      def initialize(record = nil, message = "#{record.class} was not saved: a callback has thrown :abort")
        super(message)
        @record = record
      end
    end

    # Raised if an object fails its validations.
    class Invalid < NotSaved
      # @param record [Model]
      def initialize(record)
        super(record, "Validation failed: #{record.errors.full_messages.join(", ")}")
      end

      # @return [Integer]
      def web_status = 422

      # @return [String] the message for the client
      def web_detail = message
    end

    # Raised if an object that was marked by `readonly!`, or read by `readonly`, is written.
    class ReadOnly < NotSaved
    end

    # Raised if the row was changed or deleted since the object was loaded (`lock_version`). Reload it and try again.
    class Stale < NotSaved
      # @param record [Model]
      def initialize(record)
        super(record, "#{record.class} #{record.id} was changed or deleted by another since it was loaded: reload it, and try again")
      end

      # @return [true]
      def retriable? = true

      # @return [Integer]
      def web_status = 409
    end

    # Raised for a value that no column takes, such as a Hash instead of text. It has probably come from outside.
    class BadValue < Error
      # @return [Integer]
      def web_status = 400
    end

    # Raised if mass assignment names an attribute that is not permitted.
    class Forbidden < Error
      # @return [Integer]
      def web_status = 400
    end

    # Raised if a page's cursor was changed, or belongs to another order: {Relation::Paging#keyset}.
    class InvalidCursor < Error
      def initialize(message = "the cursor is no position in this list: begin at the first page") = super

      # @return [Integer] the status for web applications: 400
      def status = 400
    end
  end
end
