# frozen_string_literal: true

Chat.routes do
  resource :sign_up, only: [:new, :create]
  resource :sign_in, only: [:new, :create, :destroy]
  resources :devices, only: [:index, :destroy] do
    delete :others, on: :collection
  end
  resource :password, only: [:edit, :update]
  resources :password_resets, only: [:new, :create, :edit, :update], param: :token
  root to: "rooms#index"
  resources :rooms, except: [] do
    resources :messages, only: [:index, :show, :create, :update, :destroy] do
      resources :reactions, only: [:create]
    end
    resources :memberships, only: [:index, :create, :destroy]
    resources :attachments, only: [:show] do
      get :thumbnail, on: :member
    end
  end
  resources :directs, only: [:new, :create]
  resource :sidebar, only: [:show]
  resource :search, only: [:show]
  resource :account, only: [:edit, :update]
  get "/avatars/:folder/:name", to: "avatars#show", as: :avatar
  namespace(:admin) do
    resources :users, only: [:index, :update]
    resources :rooms, only: [:index, :destroy]
    resources :bots, only: [:index, :create, :destroy]
  end
  post "/api/rooms/:room_id/messages", to: "api#create"
  mount Chat.cable, at: "/cable"
end
