# frozen_string_literal: true

module Sequel
  module Plugins
    # What a program on Pelton wants of its models, by one line. All of it is of Sequel or of pelton-sequel, and each
    # may be configured afterwards.
    #
    #     Sequel::Model.plugin :pelton
    #     class Post < Sequel::Model
    #       many_to_one :author, class: :User
    #       set_allowed_columns :title, :text
    #
    #       def validate
    #         super
    #         validates_presence :title
    #       end
    #     end
    #
    # | plugin | why |
    # |---|---|
    # | pelton_merging | finds by key of concurrent fibers are one query |
    # | pelton_together | an association is loaded for all objects of a result at once: no N+1 queries |
    # | timestamps | `created_at` and `updated_at`, where a table has them; both when an object is created |
    # | validation_helpers | `validates_presence` and others in `validate` |
    # | whitelist_security | `set_allowed_columns`: what `set`, `update`, `new` and `create` take from outside |
    # | no plugin: `default_set_fields_options[:missing] = :skip` | `set_fields(params, %i[title text])` takes Strings as names, too, and keeps what it does not name |
    # | json_serializer | `to_json`, also of datasets and of pages |
    # | association_dependencies | `add_association_dependencies comments: :destroy` |
    # | subclasses | `Sequel::Model.descendants`, for instance to load all schemas before a server forks |
    # | active_model | `to_param`, `to_key`, `model_name`, for forms and paths; if the gem activemodel is in the bundle |
    #
    # None of them changes a query that names its columns and conditions, or writes more than the two timestamps.
    module Pelton
      # @private
      LOADED = {pelton_merging: {}, pelton_together: {}, timestamps: {update_on_create: true}, validation_helpers: {},
                whitelist_security: {}, json_serializer: {},
                association_dependencies: {}, subclasses: {}}.freeze
      private_constant :LOADED

      # @private
      def self.apply(model)
        LOADED.each { |name, options| model.plugin(name, **options) }
        model.plugin(:active_model) if active_model?
        model.default_set_fields_options[:missing] = :skip # by default Sequel would set nil for names that are Strings
      end

      # @private
      def self.active_model?
        require "active_model"
        true
      rescue LoadError => error
        raise unless error.path == "active_model"
        false
      end
      private_class_method :active_model?
    end
  end
end
